import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
/** What a person clicks on after the overview. */
const CLICKS_MAX = 3

/** Reads the rows of all tables in docs/operate.md whose first column is named "symptom". A row maps column names to texts. */
function symptomRows(): readonly (readonly string[])[] {
  const page = readFileSync(join(ROOT, 'docs/operate.md'), 'utf8')
  const tables = [...page.matchAll(/^\| symptom .*\n\| ---.*\n((?:\|.*\n)+)/gm)]
  return tables.flatMap(([, rows = '']) =>
    rows
      .trimEnd()
      .split('\n')
      .map((row) => row.slice(2, -2).split(' | ')),
  )
}

describe('the symptoms of docs/operate.md', () => {
  const rows = symptomRows()
  const places = rows.map(([, , , place = '']) => place)

  it('operate.md says for every symptom which clicks in the console show it, three at most, or that it does not show it', () => {
    expect(rows.length).toBeGreaterThan(25)
    expect(rows.filter((cells) => cells.length !== 4)).toEqual([])
    expect(places.filter((place) => !/^(?:Overview\b|Not shown: )/.test(place))).toEqual([])
    expect(places.filter((place) => place.split('; Overview').some(hasTooManyClicks))).toEqual([])
  })

  it('quote texts that the console has', () => {
    const source = globSync(['src/console/page/**/*.ts', 'src/common/state-glossary.ts'], { cwd: ROOT }).map((file) =>
      readFileSync(join(ROOT, file), 'utf8'),
    )
    const quoted = places.flatMap((place) => [...place.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text))
    expect(quoted.length).toBeGreaterThan(20)
    expect(quoted.filter((text) => !source.some((file) => file.includes(text)))).toEqual([])
  })
})

function hasTooManyClicks(path: string): boolean {
  return path.split('›').length - 1 > CLICKS_MAX
}
