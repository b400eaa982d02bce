#!/usr/bin/env -S node --max-semi-space-size=8
// Imports nothing at its top, so that an older Node.js prints this message instead of a stack.
const NODE_MAJOR_MIN = 24

const [major = 0] = process.versions.node.split('.').map(Number)
if (major < NODE_MAJOR_MIN) {
  process.stderr.write(
    `weir: needs Node.js ${NODE_MAJOR_MIN} or newer, and ${process.execPath} is ${process.version}: install it from https://nodejs.org\n`,
  )
  process.exitCode = 2
} else {
  // Compiled code is cached between runs.
  const { enableCompileCache } = await import('node:module')
  enableCompileCache()
  await import('./main.ts')
}

export {}
