import { setInterval } from 'node:timers'
import { isMainThread, Worker } from 'node:worker_threads'

// Loaded before a program (`node --import`). SIGWINCH starts a thread that is blocked in native code, which `process.exit` cannot
// end. It writes a line to standard error before.

if (isMainThread) {
  process.on('SIGWINCH', () => {
    const code = `require('node:fs').writeSync(2, 'hang: native code\\n')
      require('node:crypto').pbkdf2Sync('a', 'b', 2 ** 31 - 1, 64, 'sha512')`
    new Worker(code, { eval: true })
  })
  // The signals are handled as soon as they come.
  setInterval(() => undefined, 60_000).unref()
}
