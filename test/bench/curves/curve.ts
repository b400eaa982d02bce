/** Points of one program: its name, and pairs of a size and the value measured with it. */
export type Line = { readonly name: string; readonly points: readonly (readonly [size: number, value: number])[] }

/** One quantity of several programs, by size. */
export type Panel = { readonly title: string; readonly unit: string; readonly lines: readonly Line[] }

/** How quantities grow with one size. */
export type Curve = { readonly title: string; readonly size: string; readonly panels: readonly Panel[] }

const PARTS_OF_LARGEST = [1 / 30, 1 / 10, 1 / 3, 1]

/** The measured sizes, up to the largest one. */
export function sizesUpTo(largest: number): readonly number[] {
  return PARTS_OF_LARGEST.map((part) => roundedSize(part * largest))
}

/** Rounds to one digit, or to a multiple of ten if that is exact enough. */
function roundedSize(size: number): number {
  const unit = 10 ** Math.floor(Math.log10(size))
  return Math.round(size / unit) * unit
}
