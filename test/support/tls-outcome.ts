import { connect } from 'node:tls'

/** `trusted`, or the reason why a client that trusts only `ca` rejects the server on this port under this host name. */
export function tlsOutcome(port: number, name: string, ca: string): Promise<string> {
  const isAddress = /^[\d.]+$/.test(name)
  const host = isAddress ? name : '127.0.0.1'
  return new Promise((resolve) => {
    const socket = connect({ port, host, ca, ...(isAddress ? {} : { servername: name }) })
    const end = (outcome: string) => {
      socket.destroy()
      resolve(outcome)
    }
    socket.once('secureConnect', () => end('trusted'))
    socket.once('error', ({ code = '' }: NodeJS.ErrnoException) => end(code))
  })
}
