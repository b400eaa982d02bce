/** `weir/sdk`: everything a plugin imports. */
export * from './error.ts'
export * from './plugin.ts'
export * from './record.ts'
export * from './schema.ts'
