import { connect, createServer, type Server } from 'node:net'

/** `host:port`, or the path of a Unix socket, which connects network namespaces. */
export type Place = string

/** Forwards each connection to `from` to `to`, until the returned server is closed. */
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

// The end in the other network namespace is run as `node forwarder.ts FROM TO`.
if (process.argv[1] === import.meta.filename) {
  await forward(process.argv[2] ?? '', process.argv[3] ?? '')
  process.stdout.write('ready\n')
}
