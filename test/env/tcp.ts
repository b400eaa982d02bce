import { connect } from 'node:net'

/** Whether `host:port` accepts connections. */
export function accepts(address: string): Promise<boolean> {
  const [host, port] = address.split(':')
  return new Promise((resolve) => {
    const socket = connect(Number(port), host)
    const answer = (isOpen: boolean) => {
      socket.destroy()
      resolve(isOpen)
    }
    socket.once('connect', () => answer(true))
    socket.once('error', () => answer(false))
  })
}
