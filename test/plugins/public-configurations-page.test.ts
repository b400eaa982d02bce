import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { shippedCatalog } from '../support/shipped-plugins.ts'

const PAGE = join(import.meta.dirname, '../../docs/public-configurations.md')
const COMMON = 'com.github.jcustenborder.kafka.connect.transform.common.'

/** The class names of each row, and whether it says that Weir ships them. */
const rows = readFileSync(PAGE, 'utf8')
  .split('\n')
  .filter((line) => /^\| `[^|]*\./.test(line))
  .map((line) => {
    const cells = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim())
    const [first = '', ...sides] = [...cells[0]!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!.replace('….', COMMON))
    return { classes: namesOf(first, sides), isShipped: cells.at(-1)!.startsWith('shipped') }
  })

/** `a.B$Key`, `$Value` are two names; names that are shortened in another way are left out. */
function namesOf(first: string, others: readonly string[]): readonly string[] {
  const whole = [first, ...others.map((other) => (other.startsWith('$') ? first.replace(/\$\w+$/, other) : other))]
  return whole.filter((name) => !name.includes('…') && name.includes('.'))
}

const catalog = shippedCatalog()
const isShipped = (name: string) =>
  catalog.find('transformation', name) !== undefined || catalog.find('converter', name) !== undefined

describe('docs/public-configurations.md', () => {
  const named = rows.flatMap(({ classes, isShipped: shipped }) => classes.map((name) => [name, shipped] as const))

  it('has the classes', () => {
    expect(named.length).toBeGreaterThan(40)
  })

  it.each(named)('says whether Weir ships %s: %s', (name, shipped) => {
    expect(isShipped(name)).toBe(shipped)
  })
})
