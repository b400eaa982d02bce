import { setInterval } from 'node:timers'
import { isMainThread, Worker } from 'node:worker_threads'

// Loaded before a program (`node --import`): SIGUSR2 makes its main thread hang, SIGHUP's neighbour SIGWINCH leaves it a
// thread in native code, which no `process.exit` gets past.

if (isMainThread) {
  process.on('SIGUSR2', () => {
    for (;;);
  })
  process.on('SIGWINCH', () => {
    new Worker(`require('node:crypto').pbkdf2Sync('a', 'b', 2 ** 31 - 1, 64, 'sha512')`, { eval: true })
  })
  // The signals are handled as soon as they come.
  setInterval(() => undefined, 60_000).unref()
}
