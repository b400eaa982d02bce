/** The version of all shipped plugins, which is that of the package. */
export const SHIPPED_VERSION = '0.1.0'
