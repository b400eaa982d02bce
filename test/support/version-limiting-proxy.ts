import { type AddressInfo, connect, createServer, type LookupFunction, type Socket } from 'node:net'
import { type ClientAccess, UNRESTRICTED_CLIENT } from '../../src/broker/client-access.ts'
import { ProtocolReader, ProtocolWriter } from '../../src/broker/protocol-primitives.ts'

const API_VERSIONS = 18

/** The highest version of each API by its key. Undefined: the API is not available. Other APIs are not limited. */
export type VersionLimits = ReadonlyMap<number, number | undefined>

export type VersionLimitingProxy = {
  /** Makes a client connect to the proxy instead of the broker. */
  readonly access: ClientAccess
  stop(): void
}

/**
 * A proxy that makes a broker appear as one with earlier versions of the protocol: it announces only those, and closes
 * the connection after a request in another one, as a broker does.
 */
export async function openVersionLimitingProxy(
  bootstrap: string,
  limits: VersionLimits,
): Promise<VersionLimitingProxy> {
  const [host = '', port = ''] = bootstrap.split(':')
  const server = createServer((client) => {
    const broker = connect(Number(port), host)
    const versionRequests = new Set<number>()
    forward(client, broker, (frame) => {
      const reader = new ProtocolReader(frame)
      const [key, version, id] = [reader.int16(), reader.int16(), reader.int32()]
      if (key === API_VERSIONS && version === 0) versionRequests.add(id)
      const isAllowed = !limits.has(key) || version <= (limits.get(key) ?? -1)
      return isAllowed ? frame : undefined
    })
    forward(broker, client, (frame) => {
      const id = frame.readInt32BE(0)
      return versionRequests.delete(id) ? limited(frame, limits) : frame
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const to: { readonly lookup?: LookupFunction; readonly port: number } = {
    port: (server.address() as AddressInfo).port,
  }
  return {
    access: { ...UNRESTRICTED_CLIENT, connectOptions: () => to },
    stop: () => void server.close(),
  }
}

/** Forwards whole frames. Both connections end when `change` returns undefined. */
function forward(from: Socket, to: Socket, change: (frame: Buffer) => Buffer | undefined): void {
  let received = Buffer.alloc(0)
  from.on('error', () => undefined).on('close', () => to.destroy())
  from.on('data', (chunk) => {
    received = Buffer.concat([received, chunk])
    while (received.length >= 4 && received.length >= 4 + received.readInt32BE(0)) {
      const end = 4 + received.readInt32BE(0)
      const frame = change(received.subarray(4, end))
      received = received.subarray(end)
      if (frame === undefined) {
        from.destroy()
        return
      }
      to.write(Buffer.concat([...new ProtocolWriter().int32(frame.length).parts(), frame]))
    }
  })
}

/** An ApiVersions response of version 0 with the limits. */
function limited(frame: Buffer, limits: VersionLimits): Buffer {
  const reader = new ProtocolReader(frame)
  const writer = new ProtocolWriter().int32(reader.int32()).int16(reader.int16())
  const apis = reader.array(() => ({ key: reader.int16(), min: reader.int16(), max: reader.int16() }))
  const announced = apis.flatMap(({ key, min, max }) => {
    if (!limits.has(key)) return [{ key, min, max }]
    const limit = limits.get(key)
    return limit === undefined ? [] : [{ key, min: Math.min(min, limit), max: Math.min(max, limit) }]
  })
  writer.array(announced, ({ key, min, max }) => writer.int16(key).int16(min).int16(max))
  return Buffer.concat(writer.parts())
}
