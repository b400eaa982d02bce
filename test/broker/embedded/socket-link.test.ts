import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Broker } from '../../../src/broker/broker.ts'
import { type BackendListener, listenForCommands } from '../../../src/broker/embedded/socket-link.ts'
import { openBroker } from '../../../src/broker/open-broker.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'

const logger = silentLogger()
let broker: Broker
let listener: BackendListener
let opened = 0
beforeAll(async () => {
  broker = await openBroker({ kind: 'embedded', directory: ':memory:' }, { logger })
  listener = await listenForCommands(async () => {
    opened += 1
    const address = await broker.address()
    if (address.kind !== 'thread') throw new Error(address.kind)
    return address.port
  })
})
afterAll(async () => {
  await listener.close()
  await broker.close()
})

describe('the socket of a running program', () => {
  it('serves the broker to who has the token, on the loopback interface', async () => {
    const other = await openBroker({ kind: 'process', ...listener.address }, { logger })
    await other.topics.create({ name: 't' })
    expect(await broker.topics.list()).toEqual(['t'])
    await other.close()
  })

  it.each([
    ['another token', Buffer.alloc(32)],
    ['a request of HTTP', Buffer.from(`GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'a'.repeat(64)}\r\n\r\n`)],
  ])('closes the connection of %s, and opens nothing for it', async (_, bytes) => {
    const before = opened
    const socket = connect(listener.address.port, '127.0.0.1')
    socket.on('error', () => undefined)
    let received = 0
    socket.on('data', ({ length }) => {
      received += length
    })
    socket.write(bytes)
    await once(socket, 'close')
    expect([received, opened]).toEqual([0, before])
  })

  it('makes room for a new connection by closing the oldest one that has not sent its token', async () => {
    const silent = Array.from({ length: 20 }, () => connect(listener.address.port, '127.0.0.1'))
    const closed = silent.slice(0, 5).map((socket) => once(socket, 'close'))
    for (const socket of silent) socket.on('error', () => undefined)
    const other = await openBroker({ kind: 'process', ...listener.address }, { logger })
    expect(await other.topics.list()).toEqual(['t'])
    await Promise.all(closed)
    await other.close()
    for (const socket of silent) socket.destroy()
  })

  it('rejects calls when the program has ended', async () => {
    const short = await listenForCommands(async () => {
      const address = await broker.address()
      if (address.kind !== 'thread') throw new Error(address.kind)
      return address.port
    })
    const other = await openBroker({ kind: 'process', ...short.address }, { logger })
    expect(await other.topics.list()).toEqual(['t'])
    await short.close()
    await expect(other.topics.list()).rejects.toMatchObject({ code: 'closed' })
    await other.close()
    await expect(openBroker({ kind: 'process', ...short.address }, { logger })).rejects.toMatchObject({
      code: 'unavailable',
    })
  })
})
