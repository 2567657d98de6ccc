#!/bin/sh
# Runs test binaries in Bochs, a PC emulator with AVX-512, for machines without it: cargo xtask emulate avx512.
# Debian has all it needs: bochs bochs-term bochsbios vgabios isolinux syslinux-common xorriso cpio
# busybox-static, and a kernel (apt-get download linux-image-cloud-amd64's dependency, dpkg -x), whose
# vmlinuz VMLINUZ names. The first argument is a folder to work in, the second the line that runs in the
# emulator, where the binaries that follow lie in / under their names up to the first '-'.
set -eu
work=$1 line=$2
shift 2
[ -n "${VMLINUZ:-}" ] || { echo "VMLINUZ must name a Linux kernel (vmlinuz)"; exit 2; }
for program in bochs xorriso cpio busybox script; do
    command -v $program >/dev/null || { echo "skipped: no $program"; exit 2; }
done
root=$work/root iso=$work/iso serial=$work/serial.txt
rm -rf "$root" "$iso" "$serial" "$work/screen.txt"
mkdir -p "$work" "$root/bin" "$root/dev" "$root/proc" "$iso/isolinux"
cp "$(command -v busybox)" "$root/bin/busybox"
ln -s busybox "$root/bin/sh"
for binary in "$@"; do
    name=$(basename "$binary")
    strip -o "$root/${name%%-*}" "$binary"
    for library in $(ldd "$binary" | grep -o '/[^ ]*'); do
        mkdir -p "$root/$(dirname "$library")"
        cp -Ln "$library" "$root/$library"
    done
done
cat >"$root/init" <<END
#!/bin/sh
cd /
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t devtmpfs dev /dev
$line
echo FINISHED \$?
/bin/busybox sleep 1
/bin/busybox poweroff -f
END
chmod +x "$root/init"
(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$iso/initrd.gz"
cp "$VMLINUZ" "$iso/vmlinuz"
cp /usr/lib/ISOLINUX/isolinux.bin /usr/lib/syslinux/modules/bios/ldlinux.c32 "$iso/isolinux/"
# Bochs 2.7 sizes compacted XSAVE areas otherwise than Linux expects; without XSAVES the kernel keeps AVX-512.
cat >"$iso/isolinux/isolinux.cfg" <<END
DEFAULT linux
PROMPT 0
LABEL linux
 KERNEL /vmlinuz
 INITRD /initrd.gz
 APPEND console=ttyS0 panic=1 mitigations=off nokaslr tsc=reliable no_timer_check noxsaves clearcpuid=xsaves,xsavec loglevel=3 rcupdate.rcu_cpu_stall_suppress=1 nowatchdog
END
xorriso -as mkisofs -quiet -o "$work/boot.iso" -b isolinux/isolinux.bin -c isolinux/boot.cat \
    -no-emul-boot -boot-load-size 4 -boot-info-table "$iso" 2>/dev/null
cat >"$work/bochsrc" <<END
plugin_ctrl: speaker=0
display_library: term
config_interface: textconfig
cpu: model=corei7_skylake_x, count=1, ips=50000000, reset_on_triple_fault=0, ignore_bad_msrs=1
memory: guest=512, host=512
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
ata0-master: type=cdrom, path=$work/boot.iso, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev=$serial
log: $work/bochs.log
clock: sync=none
END
echo c >"$work/commands" # Debian's Bochs has its debugger: go on
(TERM=xterm script -qfc "stty rows 40 cols 132; bochs -q -f $work/bochsrc -rc $work/commands" \
    "$work/screen.txt" </dev/null >/dev/null 2>&1) &
running=$!
# Bochs writes the screen to a terminal of its own, names it, and waits when nobody reads it.
until terminal=$(grep -ao '/dev/pts/[0-9]*' "$work/screen.txt" 2>/dev/null); do sleep 1; done
cat "$terminal" >/dev/null 2>&1 &
reader=$!
trap 'kill $running $reader 2>/dev/null || :' EXIT INT TERM
shown=0
while kill -0 $running 2>/dev/null; do
    sleep 2
    [ -f "$serial" ] || continue
    lines=$(wc -l <"$serial")
    head -n "$lines" "$serial" | tail -n +$((shown + 1))
    shown=$lines
    if grep -q '^FINISHED' "$serial"; then break; fi
done
grep -q '^FINISHED 0' "$serial"
