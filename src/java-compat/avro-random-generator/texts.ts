import type { Random } from './random.ts'

export type TextGenerator = (random: Random) => string

/** The texts that a part of a regular expression generates, numbered from 0. */
export type Texts = {
  readonly count: number
  readonly lengthMax: number
  /** Draws the number of a text. */
  readonly draw: (random: Random) => number
  readonly textAt: (number: number) => string
  /** Creates a generator that draws the same random numbers, but builds each text from those of its parts. */
  readonly createBuilder: () => TextGenerator
}

/** Limits of a table of texts: about 200,000 bytes. */
const TABLE_TEXTS_MAX = 4_096
const TABLE_CHARACTERS_MAX = 65_536
/** Maximum number of texts of a table that exists from the start, so that V8 has less code to compile into its caller. */
const EAGER_TEXTS_MAX = 64

/**
 * Creates a generator of the texts of an expression. If the expression has few different texts, they are kept in a table and
 * chosen by their number. A table of more than 64 texts is built when the first one is requested.
 */
export function toGenerator(texts: Texts): TextGenerator {
  if (!fitsTable(texts)) return texts.createBuilder()
  const { count, draw, textAt } = texts
  const build = () => Array.from({ length: count }, (_, number) => textAt(number))
  return count <= EAGER_TEXTS_MAX ? fromTable(build(), draw) : fromLazyTable(build, draw)
}

function fromTable(table: readonly string[], draw: Texts['draw']): TextGenerator {
  return (random) => table[draw(random)]!
}

function fromLazyTable(build: () => readonly string[], draw: Texts['draw']): TextGenerator {
  let table: readonly string[] | undefined
  return (random) => {
    table ??= build()
    return table[draw(random)]!
  }
}

function fitsTable({ count, lengthMax }: Texts): boolean {
  return count <= TABLE_TEXTS_MAX && count * lengthMax <= TABLE_CHARACTERS_MAX
}

class Constant implements Texts {
  readonly count = 1
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  get lengthMax(): number {
    return this.text.length
  }

  draw = () => 0
  textAt = () => this.text
  createBuilder = () => this.textAt
}

export function constant(text: string): Texts {
  return new Constant(text)
}

/** One of these code points. */
export function characterOf(codes: readonly number[]): Texts {
  if (codes.length === 0) throw new Error('a character class is empty')
  const count = codes.length
  const texts = codes.map((code) => String.fromCodePoint(code))
  return {
    count,
    lengthMax: 2,
    draw: (random) => random.below(count),
    textAt: (number) => texts[number]!,
    createBuilder: () => (random) => random.pick(texts),
  }
}

export function alternatives(each: readonly Texts[]): Texts {
  if (each.length === 1) return each[0]!
  const firsts = runningSums(each.map(({ count }) => count))
  return {
    count: firsts.at(-1)!,
    lengthMax: Math.max(...each.map(({ lengthMax }) => lengthMax)),
    draw: (random) => {
      const at = random.below(each.length)
      return firsts[at]! + each[at]!.draw(random)
    },
    textAt: (number) => {
      const at = firsts.findLastIndex((first) => first <= number)
      return each[at]!.textAt(number - firsts[at]!)
    },
    createBuilder: () => {
      const generators = each.map(toGenerator)
      return (random) => random.pick(generators)(random)
    },
  }
}

export function sequence(parts: readonly Texts[]): Texts {
  const merged = mergeConstants(parts)
  if (merged.length === 1) return merged[0]!
  // Constants draw nothing.
  const drawn = merged.filter((part) => !(part instanceof Constant))
  return {
    count: merged.reduce((product, { count }) => product * count, 1),
    lengthMax: merged.reduce((sum, { lengthMax }) => sum + lengthMax, 0),
    draw: digitsOf(drawn),
    textAt: (number) => {
      let text = ''
      let left = number
      for (const part of merged.toReversed()) {
        text = part.textAt(left % part.count) + text
        left = Math.floor(left / part.count)
      }
      return text
    },
    createBuilder: () => {
      const generators = combineParts(merged).map(toGenerator)
      return (random) => {
        let text = ''
        for (const generate of generators) text += generate(random)
        return text
      }
    },
  }
}

/**
 * Draws a number of which each digit is the number of a part's text. There is no loop, because V8 compiles functions
 * of two parts into their caller.
 */
function digitsOf(parts: readonly Texts[]): Texts['draw'] {
  if (parts.length === 0) return () => 0
  if (parts.length === 1) return parts[0]!.draw
  const middle = Math.floor(parts.length / 2)
  const [first, second] = [digitsOf(parts.slice(0, middle)), digitsOf(parts.slice(middle))]
  const base = parts.slice(middle).reduce((product, { count }) => product * count, 1)
  return (random) => first(random) * base + second(random)
}

function mergeConstants(parts: readonly Texts[]): readonly Texts[] {
  const merged: Texts[] = []
  for (const part of parts) {
    const last = merged.at(-1)
    if (part instanceof Constant && last instanceof Constant)
      merged[merged.length - 1] = constant(last.text + part.text)
    else merged.push(part)
  }
  return merged
}

/** Combines adjacent parts as far as the texts of both fit into one table. */
function combineParts(parts: readonly Texts[]): readonly Texts[] {
  const combined: Texts[] = []
  for (const part of parts) {
    const both = combined.length === 0 ? undefined : sequence([combined.at(-1)!, part])
    if (both !== undefined && fitsTable(both)) combined[combined.length - 1] = both
    else combined.push(part)
  }
  return combined
}

export function repetition(part: Texts, min: number, max: number): Texts {
  const choices = max - min + 1
  const { count: base, draw } = part
  const firsts = runningSums(Array.from({ length: choices }, (_, more) => base ** (min + more)))
  return {
    count: firsts.at(-1)!,
    lengthMax: max * part.lengthMax,
    draw: (random) => {
      const more = random.below(choices)
      let number = 0
      for (let left = min + more; left > 0; left--) number = number * base + draw(random)
      return firsts[more]! + number
    },
    textAt: (number) => {
      const more = firsts.findLastIndex((first) => first <= number)
      let text = ''
      let digits = number - firsts[more]!
      for (let left = min + more; left > 0; left--) {
        text = part.textAt(digits % base) + text
        digits = Math.floor(digits / base)
      }
      return text
    },
    createBuilder: () => {
      const generate = toGenerator(part)
      return (random) => {
        let text = ''
        for (let left = min + random.below(choices); left > 0; left--) text += generate(random)
        return text
      }
    },
  }
}

/** The sums before each number, and the sum of all. */
function runningSums(numbers: readonly number[]): readonly number[] {
  const sums = [0]
  for (const number of numbers) sums.push(sums.at(-1)! + number)
  return sums
}
