/** Hashes of 32 bits as Debezium's `partition.hash.function=murmur` computes them, from 64-bit arithmetic. */
export function murmurHash(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const state: State = {
    h1: 0x9368e53c2f6af274n ^ SEED,
    h2: 0x586dcd208f7cd3fdn ^ SEED,
    c1: 0x87c37b91114253d5n,
    c2: 0x4cf5ad432745937fn,
  }
  const end = bytes.length - (bytes.length % BLOCK)
  for (let at = 0; at < end; at += BLOCK) mix(state, view.getBigUint64(at, true), view.getBigUint64(at + HALF, true))
  if (end < bytes.length) mix(state, tailOf(view, end), tailOf(view, end + HALF))
  state.h2 ^= BigInt(bytes.length)
  state.h1 = wrap(state.h1 + state.h2)
  state.h2 = wrap(state.h2 + state.h1)
  const [first, second] = [finish(state.h1), finish(state.h2)]
  return Number(BigInt.asIntN(32, wrap(first + second) >> 32n))
}

type State = { h1: bigint; h2: bigint; c1: bigint; c2: bigint }

const SEED = 9001n
/** In bytes. */
const BLOCK = 16
const HALF = 8

const wrap = (value: bigint) => BigInt.asUintN(64, value)
const rotate = (value: bigint, bits: bigint) => wrap((value << bits) | (value >> (64n - bits)))

/** Up to eight remaining bytes. Each has its sign, as in Java. */
function tailOf(view: DataView, start: number): bigint {
  let tail = 0n
  for (let at = start; at < Math.min(start + HALF, view.byteLength); at++) {
    tail ^= wrap(BigInt(view.getInt8(at)) << BigInt(8 * (at - start)))
  }
  return tail
}

function mix(state: State, low: bigint, high: bigint): void {
  const k1 = wrap(rotate(wrap(low * state.c1), 23n) * state.c2)
  state.h1 = wrap((state.h1 ^ k1) + state.h2)
  state.h2 = rotate(state.h2, 41n)
  const k2 = wrap(rotate(wrap(high * state.c2), 23n) * state.c1)
  state.h2 = wrap((state.h2 ^ k2) + state.h1)
  state.h1 = wrap(state.h1 * 3n + 0x52dce729n)
  state.h2 = wrap(state.h2 * 3n + 0x38495ab5n)
  state.c1 = wrap(state.c1 * 5n + 0x7b7d159cn)
  state.c2 = wrap(state.c2 * 5n + 0x6bce6396n)
}

function finish(value: bigint): bigint {
  let hash = value ^ (value >> 33n)
  hash = wrap(hash * 0xff51afd7ed558ccdn)
  hash ^= hash >> 33n
  hash = wrap(hash * 0xc4ceb9fe1a85ec53n)
  return hash ^ (hash >> 33n)
}
