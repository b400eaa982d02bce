import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { freePort } from '../env/ports.ts'
import { UnreliableLink } from './unreliable-link.ts'

it('forwards data and ends in both directions', async () => {
  const { open } = await linkToEcho()
  const client = await open()
  expect(await client.echo('a')).toBe('a')
  client.socket.end()
  await once(client.socket, 'close')
})

it('forwards delayed data in order', async () => {
  const { link, open, received } = await linkToEcho()
  const client = await open()
  link.delay(5)
  expect(await client.echo('a')).toBe('a')
  expect(await client.echo('b')).toBe('b')
  link.heal()
  expect(await client.echo('c')).toBe('c')
  expect(received()).toBe('abc')
})

it('resets connections, and accepts new ones after it has healed', async () => {
  const { link, open } = await linkToEcho()
  const client = await open()
  const reset = once(client.socket, 'error')
  link.reset(10)
  expect((await reset)[0]).toMatchObject({ code: 'ECONNRESET' })
  link.heal()
  expect(await (await open()).echo('b')).toBe('b')
})

it('loses the data of half-open connections, also after it has healed, and serves new ones', async () => {
  const { link, open, received } = await linkToEcho()
  const before = await open()
  expect(await before.echo('a')).toBe('a')
  link.halfOpen()
  const during = await open()
  before.socket.write('lost')
  during.socket.write('lost')
  link.heal()
  before.socket.write('lost')
  expect(await (await open()).echo('b')).toBe('b')
  expect(received()).toBe('ab')
  expect([before.socket.destroyed, during.socket.destroyed]).toEqual([false, false])
})

async function linkToEcho() {
  let received = ''
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (data) => {
      received += data
      socket.write(data)
    })
    socket.on('end', () => socket.end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const [host, port] = ['127.0.0.1', await freePort()]
  const link = await UnreliableLink.open({ host, port }, { host, port: (server.address() as AddressInfo).port })
  onTestFinished(() => {
    link.close()
    server.close()
  })
  const open = async () => {
    const socket = connect(port, host)
    await once(socket, 'connect')
    // The link resets it at the end of the test.
    socket.on('error', () => undefined)
    const echo = async (text: string) => {
      socket.write(text)
      return String((await once(socket, 'data'))[0])
    }
    return { socket, echo }
  }
  return { link, open, received: () => received }
}
