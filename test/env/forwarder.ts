import { connect, createServer, type Server } from 'node:net'

/** `host:port`, or the path of a socket, by which network namespaces reach each other. */
export type Place = string

/** Hands each connection that comes to `from` on to `to`, until it is closed. */
export function forward(from: Place, to: Place): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ ...addressOf(to), allowHalfOpen: true })
    near.pipe(far).pipe(near)
    near.on('error', () => far.destroy())
    far.on('error', () => near.destroy())
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(addressOf(from), () => resolve(server))
  })
}

function addressOf(place: Place) {
  const [, host, port] = /^([^/]+):(\d+)$/.exec(place) ?? []
  return port === undefined ? { path: place } : { host: host ?? '', port: Number(port) }
}

// The half that has to stand in another network namespace: `node forwarder.ts FROM TO`.
if (process.argv[1] === import.meta.filename) {
  await forward(process.argv[2] ?? '', process.argv[3] ?? '')
  process.stdout.write('ready\n')
}
