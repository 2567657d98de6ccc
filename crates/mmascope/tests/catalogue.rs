//! The catalogue: its notation, its names, and texts that it must refuse with the right place.

mod catalogue {
    mod grow;
    mod malformed;
    mod names;
    mod rows;
}
