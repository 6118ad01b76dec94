//! One directory of files, read without races: paths that cannot climb, walked beneath a descriptor.
