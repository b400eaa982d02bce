import { Socket } from 'node:net'
import type { HostAccess } from '../../../sdk/index.ts'

/** Where a server listens. */
export type ServerAddress = { readonly host: string; readonly port: number } | { readonly path: string }

const KEEP_ALIVE_MS = 30_000

export function addressText(place: ServerAddress): string {
  return 'path' in place ? place.path : `${place.host}:${place.port}`
}

/** Returns a connecting socket. Checks access to the network or the path before. */
export function openSocket(place: ServerAddress, { files, network }: HostAccess): Socket {
  const socket = new Socket()
  socket.setNoDelay(true)
  socket.setKeepAlive(true, KEEP_ALIVE_MS)
  if ('path' in place) {
    files.checkPath(place.path)
    return socket.connect({ path: place.path })
  }
  const { host, port } = place
  return socket.connect({ port, host, ...network.connectOptions(host, port) })
}
