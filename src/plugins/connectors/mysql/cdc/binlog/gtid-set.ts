/** Transactions by their global ids, in the form in which the server and offsets have them. */
export type GtidSet = {
  /** Returns the set with one more transaction. */
  with(gtid: string): GtidSet
  /** Whether each transaction of this set is in the other one. */
  isWithin(other: GtidSet): boolean
  toString(): string
}

export function parseGtidSet(text: string, isMariadb: boolean): GtidSet {
  return isMariadb ? MariadbGtidSet.parse(text) : MysqlGtidSet.parse(text)
}

type DomainPosition = { readonly server: number; readonly sequence: bigint }

/** The last transaction of each domain: `0-1-42,1-1-7`. */
class MariadbGtidSet implements GtidSet {
  readonly #last: ReadonlyMap<number, DomainPosition>

  private constructor(last: ReadonlyMap<number, DomainPosition>) {
    this.#last = last
  }

  static parse(text: string): MariadbGtidSet {
    const parts = text.split(',').filter((part) => part.trim() !== '')
    return new MariadbGtidSet(
      new Map(
        parts.map((part) => {
          const [, domain, server, sequence] = /^\s*(\d+)-(\d+)-(\d+)\s*$/.exec(part) ?? []
          if (sequence === undefined) throw new Error(`'${part}' is not a GTID of MariaDB, such as 0-1-42`)
          return [Number(domain), { server: Number(server), sequence: BigInt(sequence) }]
        }),
      ),
    )
  }

  with(gtid: string): MariadbGtidSet {
    return new MariadbGtidSet(new Map([...this.#last, ...MariadbGtidSet.parse(gtid).#last]))
  }

  isWithin(other: GtidSet): boolean {
    if (!(other instanceof MariadbGtidSet)) return false
    return [...this.#last].every(([domain, { sequence }]) => sequence <= (other.#last.get(domain)?.sequence ?? -1n))
  }

  toString(): string {
    return [...this.#last].map(([domain, { server, sequence }]) => `${domain}-${server}-${sequence}`).join(',')
  }
}

type Interval = { readonly from: bigint; readonly to: bigint }

/** Intervals of transactions of each server: `3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5:8`. */
export class MysqlGtidSet implements GtidSet {
  /** Sorted and disjoint; both ends are included. */
  readonly #intervals: ReadonlyMap<string, readonly Interval[]>

  private constructor(intervals: ReadonlyMap<string, readonly Interval[]>) {
    this.#intervals = intervals
  }

  static parse(text: string): MysqlGtidSet {
    let found = new Map<string, readonly Interval[]>()
    for (const part of text.split(',').map((entry) => entry.trim())) {
      if (part === '') continue
      const [uuid = '', ...ranges] = part.toLowerCase().split(':')
      if (!/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(uuid) || ranges.length === 0) {
        throw new Error(`'${part}' is not a set of GTIDs of MySQL, such as UUID:1-5; GTIDs with tags are not supported`)
      }
      for (const range of ranges) {
        const [, from, to = from] = /^(\d+)(?:-(\d+))?$/.exec(range) ?? []
        if (from === undefined || to === undefined)
          throw new Error(`'${part}' is not a set of GTIDs of MySQL, such as UUID:1-5`)
        found = new Map(found).set(uuid, addInterval(found.get(uuid) ?? [], { from: BigInt(from), to: BigInt(to) }))
      }
    }
    return new MysqlGtidSet(found)
  }

  with(gtid: string): MysqlGtidSet {
    const at = gtid.lastIndexOf(':')
    const uuid = gtid.slice(0, at)
    const number = BigInt(gtid.slice(at + 1))
    const intervals = addInterval(this.#intervals.get(uuid) ?? [], { from: number, to: number })
    return new MysqlGtidSet(new Map(this.#intervals).set(uuid, intervals))
  }

  isWithin(other: GtidSet): boolean {
    if (!(other instanceof MysqlGtidSet)) return false
    return [...this.#intervals].every(([uuid, intervals]) => {
      const theirs = other.#intervals.get(uuid) ?? []
      return intervals.every(({ from, to }) => theirs.some((one) => one.from <= from && one.to >= to))
    })
  }

  toString(): string {
    return [...this.#intervals]
      .map(([uuid, intervals]) => {
        const ranges = intervals.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`))
        return `${uuid}:${ranges.join(':')}`
      })
      .join(',')
  }

  /** As the command that requests the log has it. The end of an interval is excluded there. */
  encode(): Buffer {
    const parts: Buffer[] = [uint64(BigInt(this.#intervals.size))]
    for (const [uuid, intervals] of this.#intervals) {
      parts.push(Buffer.from(uuid.replaceAll('-', ''), 'hex'), uint64(BigInt(intervals.length)))
      for (const { from, to } of intervals) parts.push(uint64(from), uint64(to + 1n))
    }
    return Buffer.concat(parts)
  }
}

function uint64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}

/** Adds an interval to sorted ones, and joins those that touch. */
function addInterval(intervals: readonly Interval[], added: Interval): readonly Interval[] {
  const last = intervals.at(-1)
  if (last !== undefined && last.to + 1n === added.from)
    return [...intervals.slice(0, -1), { from: last.from, to: added.to }]
  const apart = intervals.filter(({ from, to }) => to + 1n < added.from || from > added.to + 1n)
  const touching = intervals.filter((one) => !apart.includes(one))
  let { from, to } = added
  for (const one of touching) {
    if (one.from < from) from = one.from
    if (one.to > to) to = one.to
  }
  return [...apart, { from, to }].toSorted((a, b) => (a.from < b.from ? -1 : 1))
}
