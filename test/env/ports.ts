import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

// Below the range of ephemeral ports, so that no outgoing connection takes the port before it is used.
const FIRST = 20_000
const LAST = 32_000
const taken = new Set<number>()

/** A free port of 127.0.0.1. This process returns each port only once. */
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
