/** `1 record`, `1,234 records`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
}

/** Of a list of which some are shown: `12 of 1,234`. */
export function countedOf(count: number, all: number): string {
  return `${count.toLocaleString('en')} of ${all.toLocaleString('en')}`
}
