import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { AddressRules, DENIED_BY_DEFAULT } from '../../../src/worker/host-access/address-rules.ts'
import { createNetworkAccess, type Resolver } from '../../../src/worker/host-access/network-access.ts'
import { propertyRuns } from '../../support/property-seed.ts'

const rules = (denied: readonly string[], allowed?: readonly string[]) => new AddressRules({ allowed, denied })
const isRefused = (own: AddressRules, host: string, port = 80, address?: string) =>
  own.refusal({ host, port, address }) !== undefined

describe('the groups of connector.urls.denied that apply by default', () => {
  const own = rules(DENIED_BY_DEFAULT)

  it.each([
    ...['127.0.0.1', '127.255.255.254', '0.0.0.0', '::1', '::', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1', '::ffff:7f00:1'],
    ...['::127.0.0.1', '::ffff:0:127.0.0.1', '64:ff9b::7f00:1', '2002:7f00:1::', '2001:0:1:2:3:4:80ff:fffe'],
    ...['fe80::5efe:7f00:1', '2001:db8::200:5efe:127.0.0.1', '169.254.169.254', '::ffff:a9fe:a9fe', 'fe80::1%eth0'],
    ...['fd00:ec2::254', '168.63.129.16', 'localhost', 'a.localhost', 'metadata.google.internal'],
    ...['kubernetes.default.svc', 'kubernetes.default.svc.cluster.local'],
  ])('deny %s', (host) => {
    expect(isRefused(own, host)).toBe(true)
  })

  it.each([
    '93.184.215.14',
    '10.0.0.1',
    '2606:2800:21f:cb07::1',
    '::ffff:10.0.0.1',
    'example.com',
    'localhost.example.com',
  ])('allow %s', (host) => {
    expect(isRefused(own, host)).toBe(false)
  })

  it('apply to the resolved address of a host name', () => {
    expect(isRefused(own, 'example.com', 80, '127.0.0.1')).toBe(true)
    expect(isRefused(own, 'example.com', 80, '93.184.215.14')).toBe(false)
  })
})

describe('connector.urls.allowed and connector.urls.denied', () => {
  it('allow only listed destinations, by host name, port, scheme, address or subnet', () => {
    const own = rules(
      [],
      ['https://api.example.com', '*.internal:8081', '10.1.0.0/16', 'fd12::/16', '[2001:db8::1]:443'],
    )
    const passes = (host: string, port: number, address?: string) => !isRefused(own, host, port, address)
    expect(passes('api.example.com', 443, '1.2.3.4')).toBe(true)
    expect(passes('api.example.com', 80, '1.2.3.4')).toBe(false)
    expect(passes('registry.internal', 8081, '10.9.9.9')).toBe(true)
    expect(passes('registry.internal', 8083, '10.9.9.9')).toBe(false)
    expect(passes('any.example', 5432, '10.1.2.3')).toBe(true)
    expect(passes('any.example', 5432, '10.2.2.3')).toBe(false)
    expect(passes('fd12::9', 1)).toBe(true)
    expect(passes('2001:db8::1', 443)).toBe(true)
    expect(passes('2001:db8::1', 80)).toBe(false)
  })

  it('deny allowed destinations, except those marked with !', () => {
    const own = rules(['loopback', '!127.0.0.1:8081', 'private', '!*.shop.svc'], ['*', '0.0.0.0/0', '::/0'])
    expect(isRefused(own, '127.0.0.1', 8081)).toBe(false)
    expect(isRefused(own, 'localhost', 8081)).toBe(false)
    expect(isRefused(own, '127.0.0.1', 8083)).toBe(true)
    expect(isRefused(own, 'db.shop.svc', 5432, '10.0.0.9')).toBe(false)
    expect(isRefused(own, 'db.other.svc', 5432, '10.0.0.9')).toBe(true)
  })

  it.each(['', 'http://', '10.0.0.0/33', 'a b', 'x/8', '::/200', 'https://a.example/path', '!'])(
    "reject the invalid entry '%s'",
    (entry) => {
      expect(() => rules([entry])).toThrow('connector.urls.denied')
    },
  )

  it('reject exceptions in connector.urls.allowed', () => {
    expect(() => rules([], ['!127.0.0.1'])).toThrow('connector.urls.allowed')
  })
})

/** The same host in the notations that URLs, resolvers and sockets accept. */
const spellings = (four: readonly number[]): readonly string[] => {
  const [a, b, c, d] = four as [number, number, number, number]
  const hex = (high: number, low: number) => (high * 256 + low).toString(16)
  const whole = ((a * 256 + b) * 256 + c) * 256 + d
  return [
    four.join('.'),
    String(whole),
    `0x${whole.toString(16)}`,
    four.map((part) => `0${part.toString(8)}`).join('.'),
    `${a}.${(b * 256 + c) * 256 + d}`,
    `${four.join('.')}.`,
    `[::ffff:${four.join('.')}]`,
    `[::ffff:${hex(a, b)}:${hex(c, d)}]`,
    `[0:0:0:0:0:FFFF:${hex(a, b)}:${hex(c, d)}]`,
    `[64:ff9b::${hex(a, b)}:${hex(c, d)}]`,
    `[2002:${hex(a, b)}:${hex(c, d)}::]`,
    four.map((part) => encodeURIComponent(String(part))).join('%2E'),
  ]
}

describe('connections', () => {
  const denied = fc.oneof(
    fc.tuple(fc.constant(127), fc.nat(255), fc.nat(255), fc.nat(255)),
    fc.tuple(fc.constant(169), fc.constant(254), fc.nat(255), fc.nat(255)),
    fc.tuple(fc.constant(0), fc.nat(255), fc.nat(255), fc.nat(255)),
  )

  it('never reach a denied address, in any notation of a URL', { tags: ['slow'] }, () => {
    const access = createNetworkAccess({
      addresses: { allowed: undefined, denied: DENIED_BY_DEFAULT },
      listeners: { allowed: undefined, ownPorts: [] },
    })
    fc.assert(
      fc.property(denied, fc.nat(11), (four, at) => {
        const written = `http://user:p@${spellings(four)[at]}/path`
        expect(() => access.connectOptions(new URL(written).hostname, 80)).toThrow('connector.urls.denied')
      }),
      { numRuns: propertyRuns(2_000) },
    )
  })

  it('use only the allowed addresses of a host name', async () => {
    const found = (addresses: readonly string[]) => addresses.map((address) => ({ address, family: 4 }))
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(denied, fc.constant([93, 184, 215, 14])), { minLength: 1 }), async (all) => {
        const access = accessBy(async () => found(all.map((four) => four.join('.'))))
        const answer = access.resolve('example.com', 80)
        if (all.some(([first]) => first === 93)) expect(await answer).toBe('93.184.215.14')
        else await expect(answer).rejects.toMatchObject({ code: 'not_allowed' })
      }),
    )
  })

  it('are rejected when a host name resolves to a denied address at the time of the connection', async () => {
    const server = createServer((_, response) => response.end('secret'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const answers = ['93.184.215.14', '127.0.0.1']
    const access = accessBy(async () => [{ address: answers.shift()!, family: 4 }])
    expect(await access.resolve('rebind.example', port)).toBe('93.184.215.14')
    const socket = connect({ host: 'rebind.example', port, ...access.connectOptions('rebind.example', port) })
    const error = await new Promise<Error>((resolve) => socket.once('error', resolve))
    expect(error).toMatchObject({ code: 'not_allowed', message: expect.stringContaining('(127.0.0.1)') })
  })

  function accessBy(resolver: Resolver) {
    return createNetworkAccess(
      {
        addresses: { allowed: undefined, denied: DENIED_BY_DEFAULT },
        listeners: { allowed: undefined, ownPorts: [] },
      },
      resolver,
    )
  }
})

describe('listeners', () => {
  const listening = (allowed?: readonly string[]) => {
    const { checkListener } = createNetworkAccess({
      addresses: { allowed: undefined, denied: [] },
      listeners: { allowed, ownPorts: [8083] },
    })
    return (host: string, port: number) => () => checkListener(host, port)
  }

  it('are rejected on ports of the worker', () => {
    expect(listening()('0.0.0.0', 8083)).toThrow('port of the worker itself')
    expect(listening(['*'])('::', 8083)).toThrow('port of the worker itself')
    expect(listening()('0.0.0.0', 8088)).not.toThrow()
  })

  it('are allowed only on addresses in connector.listeners.allowed', () => {
    const at = listening(['127.0.0.1:8088', '[::1]:9000', '*:8090'])
    expect(at('127.0.0.1', 8088)).not.toThrow()
    expect(at('[::1]', 9000)).not.toThrow()
    expect(at('0.0.0.0', 8090)).not.toThrow()
    expect(at('0.0.0.0', 8088)).toThrow('connector.listeners.allowed')
  })
})
