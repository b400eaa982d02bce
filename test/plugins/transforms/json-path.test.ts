import { describe, expect, it } from 'vitest'
import { compileJsonPath } from '../../../src/plugins/transforms/json-path/json-path.ts'

const STORE = {
  store: {
    book: [
      { category: 'reference', author: 'Rees', title: 'Sayings', price: 8.95 },
      { category: 'fiction', author: 'Waugh', title: 'Sword', price: 12.99 },
      { category: 'fiction', author: 'Melville', title: 'Moby Dick', isbn: '0-553-21311-3', price: 8.99 },
      { category: 'fiction', author: 'Tolkien', title: 'Rings', isbn: '0-395-19395-8', price: 22.99 },
    ],
    bicycle: { color: 'red', price: 19.95 },
  },
  expensive: 10,
  'a.b': 1,
  none: null,
  flag: true,
  count: 12,
  big: 9_007_199_254_740_993n,
}
const titles = (path: string) =>
  (compileJsonPath(path)(STORE) as { value: readonly { title?: string }[] }).value.map(({ title }) => title)
const resolve = (path: string, root: unknown = STORE) => {
  const found = compileJsonPath(path)(root)
  return found.isMissing ? 'missing' : found.value
}
const matches = (condition: string, item: unknown) =>
  (resolve(`$[?(${condition})]`, [item]) as readonly unknown[]).length === 1

describe('a JSON path', () => {
  it.each<[string, unknown]>([
    ['$.store.bicycle.color', 'red'],
    ['store.bicycle.color', 'red'],
    ["$['store']['bicycle']['color']", 'red'],
    ['$["a.b"]', 1],
    ['$', STORE],
    ['$.store.book[0].author', 'Rees'],
    ['$.store.book[-1].author', 'Tolkien'],
    ['$.none', null],
    ['$.nowhere', 'missing'],
    ['$.none.inner', 'missing'],
    ['$.expensive.inner', 'missing'],
    ['$.store.book[7]', 'missing'],
    ['$.store.book.title', 'missing'],
    ['$.store.bicycle[0]', 'missing'],
  ])('that leads to one value returns it: %s', (path, value) => {
    expect(resolve(path)).toEqual(value)
  })

  it.each<[string, unknown]>([
    ['$.store.book[*].price', [8.95, 12.99, 8.99, 22.99]],
    ['$..price', [8.95, 12.99, 8.99, 22.99, 19.95]],
    ['$.store.book[0,2].title', ['Sayings', 'Moby Dick']],
    ['$.store.book[:2].title', ['Sayings', 'Sword']],
    ['$.store.book[1:3].title', ['Sword', 'Moby Dick']],
    ['$.store.book[-2:].title', ['Moby Dick', 'Rings']],
    ["$.store.bicycle['color','price','nothing']", ['red', 19.95]],
    ['$.store.*.color', ['red']],
    ['$..book[0].title', ['Sayings']],
    ['$.store.book[*].nowhere', []],
    ['$.nowhere[*]', 'missing'],
    ['$..nowhere', []],
  ])('that may lead to several values returns a list: %s', (path, value) => {
    const found = resolve(path)
    const sorted = (list: unknown) => (Array.isArray(list) ? [...(list as unknown[])].map(String).sort() : list)
    expect(sorted(found)).toEqual(sorted(value))
  })

  it.each<[string, readonly string[]]>([
    ['$.store.book[?(@.isbn)]', ['Moby Dick', 'Rings']],
    ['$.store.book[?(!@.isbn)]', ['Sayings', 'Sword']],
    ['$..book[?(@.price <= $.expensive)]', ['Sayings', 'Moby Dick']],
    ["$.store.book[?(@.category == 'fiction' && @.price > 20)]", ['Rings']],
    ['$.store.book[?(@.author == \'Rees\' || (@.author == "Waugh"))]', ['Sayings', 'Sword']],
    ['$.store.book[?(@.author =~ /.*ees/i)]', ['Sayings']],
    ['$.store.book[?(@.author =~ /ees/)]', []],
    ["$.store.book[?(@.author in ['Rees','Tolkien'])]", ['Sayings', 'Rings']],
    ["$.store.book[?(@.author nin ['Rees', 'Tolkien'])]", ['Sword', 'Moby Dick']],
    ["$.store.book[?(@.title contains 'in')]", ['Sayings', 'Rings']],
    ['$.store.book[?(@.title size 5)]', ['Sword', 'Rings']],
    ["$.store.book[?(@['category']=='reference')]", ['Sayings']],
    ["$.store.book[?('fiction' != @.category)]", ['Sayings']],
  ])('selects by a filter: %s', (path, found) => {
    expect(titles(path)).toEqual(found)
  })

  it('applies a filter to an object itself', () => {
    expect(resolve('$[?(@.flag == true)]')).toEqual([STORE])
    expect(resolve('$.[?(@.flag == true)]')).toEqual([STORE])
    expect(resolve("$.store.bicycle[?(@.color == 'blue')]")).toEqual([])
  })

  it.each<[string, unknown, boolean]>([
    ['@.a == 1', { a: '1' }, true],
    ['@.a == 1', { a: 1n }, true],
    ["@.a == '1'", { a: 1 }, true],
    ["@.a === '1'", { a: 1 }, false],
    ["@.a !== '1'", { a: 1 }, true],
    ['@.a == null', { a: null }, true],
    ['@.a == null', {}, false],
    ['@.a != 1', {}, true],
    ['@.a < 2', { a: 'text' }, false],
    ["@.a > 'a'", { a: 'b' }, true],
    ['@.a >= 9007199254740993', { a: 9_007_199_254_740_994n }, true],
    ['@.a', { a: null }, true],
    ['@.a empty true', { a: '' }, true],
    ['@.a empty false', { a: [1] }, true],
    ['@.a contains 2', { a: [1, 2] }, true],
    ['@.a == [1,2]', { a: [1, 2] }, true],
    ['@.a == 1.5', { a: { unscaled: 15n, scale: 1 } }, true],
    ['@.a == 1000', { a: new Date(1_000) }, true],
    ['@.a == -1.5e2', { a: -150 }, true],
    ["@.constructor == 'x'", {}, false],
    ['@.constructor', {}, false],
  ])('compares as Jayway’s JsonPath does: %s with %o', (condition, item, isMatch) => {
    expect(matches(condition, item)).toBe(isMatch)
  })

  it('reads maps as objects', () => {
    expect(resolve('$.a.b', new Map([['a', new Map([['b', 1]])]]))).toBe(1)
    expect(resolve('$..b', { a: new Map([['b', 1]]) })).toEqual([1])
  })

  it.each<[string, RegExp]>([
    ['$.a.length()', /functions such as length\(\) are not supported/],
    ["$.a[?(@.b subsetof ['x'])]", /the operator 'subsetof' is not supported/],
    ['$.a[', /is expected at character 5/],
    ['$.a[?(@.b == )]', /is expected/],
    ['$.a[?(1)]', /an operator is expected/],
    ['$.a[?(@.b =~ /x/g)]', /flags 'g'/],
    ["$.a[?(@.b =~ 'x')]", /=~ needs one regular expression/],
    ['$.a[?(@.b == /x/)]', /can only be used with =~/],
    ['$.a[?(@.b =~ /(/)]', /regular expression|Unterminated|missing|Invalid/i],
    ['@.a', /must start with \$/],
    ['$.a b', /is not expected at character/],
    [`$[?(${'('.repeat(60)}@.a${')'.repeat(60)})]`, /nested more than 50 times/],
    [`$.${'a'.repeat(10_001)}`, /more than 10000 characters/],
  ])('rejects %s', (path, message) => {
    expect(() => compileJsonPath(path)).toThrow(message)
  })

  it('is not evaluated beyond a number of steps', { tags: ['slow'] }, () => {
    const wide = { list: Array.from({ length: 2_000 }, (_, at) => ({ at })) }
    expect(() => resolve('$..[?($..at)]', wide)).toThrow(/takes more than 1000000 steps/)
    expect(resolve('$.list[?(@.at == 1999)].at', wide)).toEqual([1_999])
  })

  it('matches hostile regular expressions in linear time', () => {
    expect(resolve('$[?(@.a =~ /(a+)+b/)]', [{ a: 'a'.repeat(50_000) }])).toEqual([])
  })
})
