import { isIPv4, isIPv6 } from 'node:net'

/**
 * The addresses that a packet to this address can reach: the address itself and, for an IPv6 address that embeds an
 * IPv4 address (mapped, compatible, NAT64, 6to4, ISATAP, Teredo), the embedded one. Empty when the text is not an IP
 * address.
 */
export function reachableAddresses(text: string): readonly string[] {
  if (isIPv4(text)) return [text]
  if (!isIPv6(text)) return []
  const address = text.replace(/%.*$/, '')
  const bytes = ipv6Bytes(address)
  const starts = (...prefix: number[]) => prefix.every((byte, at) => bytes[at] === byte)
  const zeros = (from: number, to: number) => bytes.subarray(from, to).every((byte) => byte === 0)
  const tail = bytes.subarray(12)
  const embedded: Uint8Array[] = []
  // ::ffff:a.b.c.d, ::a.b.c.d and ::ffff:0:a.b.c.d
  if (zeros(0, 10) && ((bytes[10] === 0xff && bytes[11] === 0xff) || zeros(10, 12))) embedded.push(tail)
  if (zeros(0, 8) && bytes[8] === 0xff && bytes[9] === 0xff && zeros(10, 12)) embedded.push(tail)
  if (starts(0x00, 0x64, 0xff, 0x9b)) embedded.push(tail)
  if (starts(0x20, 0x02)) embedded.push(bytes.subarray(2, 6))
  if (starts(0x20, 0x01, 0, 0)) embedded.push(tail.map((byte) => byte ^ 0xff))
  if ((bytes[8] === 0 || bytes[8] === 2) && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe) {
    embedded.push(tail)
  }
  return [address, ...embedded.map((four) => four.join('.'))]
}

function ipv6Bytes(address: string): Uint8Array {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address)
  const text = dotted === null ? address : `${dotted[1]}${pair(dotted[2]!, dotted[3]!)}:${pair(dotted[4]!, dotted[5]!)}`
  const [head = '', rest] = text.split('::')
  const left = groups(head)
  const right = rest === undefined ? [] : groups(rest)
  const all = [...left, ...new Array<number>(Math.max(0, 8 - left.length - right.length)).fill(0), ...right]
  return Uint8Array.from(all.flatMap((group) => [group >> 8, group & 0xff]))
}

function groups(text: string): readonly number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
}

function pair(high: string, low: string): string {
  return (Number(high) * 256 + Number(low)).toString(16)
}
