import { describe, expect, it } from 'vitest'
import { NameTree } from '../../../src/formats/protobuf/name-tree.ts'
import { parseProto } from '../../../src/formats/protobuf/parser.ts'
import { TypeTable } from '../../../src/formats/protobuf/type-table.ts'

function treeOf(...names: readonly string[]): NameTree<{ readonly name: string }> {
  const tree = new NameTree<{ readonly name: string }>()
  for (const name of names) tree.set(name.split('.'), { name })
  return tree
}

describe('NameTree', () => {
  it.each([
    ['A', 'p.M.N', 'p.M.A'],
    ['A', 'p', 'p.A'],
    ['A', '', 'A'],
    ['M.A', 'p.M.N', 'p.M.A'],
    ['M.A', 'q', undefined],
    ['p.A', 'q.r', 'p.A'],
    ['.A', 'p.M', 'A'],
    ['.M.A', 'p', undefined],
    ['M', 'p', undefined],
    ['B', 'p.M', undefined],
    ['A', 'unknown.M', 'A'],
    // The innermost scope that has the whole name, not the one that has its first part.
    ['M.X', 'p.M.N', 'M.X'],
  ])('resolves %s in the scope %j to %s', (name, scope, expected) => {
    const tree = treeOf('A', 'p.A', 'p.M.A', 'p.M.N.Z', 'M.X')
    expect(tree.resolve(name, scope === '' ? [] : scope.split('.'))?.name).toBe(expected)
  })

  it('resolves a name in a scope once, however many fields use it and however deep the scope is', () => {
    const tree = treeOf('A')
    let reads = 0
    const scope = new Proxy(Array<string>(100).fill('a'), {
      get: (target, property, receiver) => {
        reads += 1
        return Reflect.get(target, property, receiver) as unknown
      },
    })
    tree.resolve('A', scope)
    const once = reads
    for (let field = 0; field < 1_000; field++) expect(tree.resolve('A', scope)?.name).toBe('A')
    expect(reads).toBe(once)
  })
})

it('a table resolves types and extensions of a file and its imports', () => {
  const imported = parseProto('package a.b; message D { message E {} } extend X { optional int32 o = 1; }')
  const file = parseProto(
    'package a.c; message M { message N {} extend X { optional int32 i = 2; } } enum E { Z = 0; }',
  )
  const table = new TypeTable(file, [{ path: 'd.proto', file: imported, reference: { subject: 'd', version: 1 } }])
  const found = (name: string, ...scope: string[]) => table.find(name, scope)?.fullName
  expect([found('N', 'a', 'c', 'M'), found('b.D.E', 'a', 'c', 'M'), found('E', 'a', 'c'), found('E', 'a')]).toEqual([
    'a.c.M.N',
    'a.b.D.E',
    'a.c.E',
    undefined,
  ])
  expect(table.find('M', ['a', 'c'])).toMatchObject({ packageName: 'a.c', origin: 'file' })
  expect(table.find('.a.b.D', [])).toMatchObject({ packageName: 'a.b', origin: { subject: 'd', version: 1 } })
  const extension = (name: string, ...scope: string[]) => table.extension(name, scope)
  expect([extension('i', 'a', 'c', 'M')?.fullName, extension('b.o', 'a', 'c')?.fullName]).toEqual(['a.c.M.i', 'a.b.o'])
  expect(extension('.a.c.M.i')?.field.tag).toBe(2)
})
