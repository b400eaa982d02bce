/** The version of everything in this folder: the package's own. */
export const SHIPPED_VERSION = '0.1.0'
