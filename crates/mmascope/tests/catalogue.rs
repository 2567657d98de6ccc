//! The catalogue: its notation, its names, and texts that it must refuse with the right place.

mod catalogue {
    mod defaults;
    mod grow;
    mod malformed;
    mod names;
    mod rows;
}
