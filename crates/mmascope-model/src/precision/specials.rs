//! Special values of every unit, computed from the models.
