import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

// Below the range from which systems take the ports of outgoing connections, so that nobody steps in between.
const FIRST = 20_000
const LAST = 32_000
const taken = new Set<number>()

/** A port of 127.0.0.1 that is free now and is handed out once by this process. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, LAST)
    if (taken.has(port) || !(await isFree(port))) continue
    taken.add(port)
    return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
