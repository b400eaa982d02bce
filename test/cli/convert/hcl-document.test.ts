import { describe, expect, it } from 'vitest'
import { readHclDocument } from '../../../src/cli/convert/hcl-document.ts'
import { UnevaluatedExpression } from '../../../src/cli/convert/source-object.ts'
import { cpuMsOf } from '../../support/cpu-time.ts'

function read(text: string): Record<string, unknown> {
  const { documents, errors } = readHclDocument(text, 'main.tf')
  expect(errors).toEqual([])
  return documents[0]?.value as Record<string, unknown>
}

const expression = (text: string) => new UnevaluatedExpression(text)

describe('a Terraform file', () => {
  it('has the structure of the JSON syntax', () => {
    const text = `
resource "a" "one" {
  name = "x" // comment
  block {
    id = 1
  }
  block { id = 2 }
}
resource "a" "two" {}
`
    expect(read(text)).toEqual({ resource: { a: { one: { name: 'x', block: [{ id: 1 }, { id: 2 }] }, two: {} } } })
  })

  it.each([
    ['"text"', 'text'],
    ['"\\t\\"\\\\\\u00e4"', '\t"\\ä'],
    ['"$${file:/a:b}"', '${file:/a:b}'],
    ['42', 42],
    ['-1.5e2', -150],
    ['9223372036854775807', 9223372036854775807n],
    ['true', true],
    ['null', null],
    ['["a", 2, ]', ['a', 2]],
    ['{ a = 1, "b.c" : 2\n  d = "x" }', { a: 1, 'b.c': 2, d: 'x' }],
    ['<<EOT\n  {"a": 1}\nEOT', '  {"a": 1}\n'],
    ['<<-EOT\n    {\n      "a": 1\n    }\n  EOT', '{\n  "a": 1\n}\n'],
  ])('evaluates the literal %s', (source, value) => {
    expect(read(`v = ${source}\nw = 1\n`)).toEqual({ v: value, w: 1 })
  })

  it.each([
    'var.name',
    '"${var.name}-value"',
    '"a" == "b" ? 1 : 2',
    'file("./orders.avsc")',
    'jsonencode({\n  a = "}"\n})',
    '[for each in var.all : each]',
    '{ for each in var.all : each => 1 }',
    '<<EOT\n${var.x}\nEOT',
    '1 + 2',
  ])('keeps the expression %s', (source) => {
    expect(read(`v = ${source}\nw = 1\n`)).toEqual({ v: expression(source), w: 1 })
  })

  it('keeps expressions inside of literals', () => {
    expect(read('v = { a = var.x, b = ["c", var.y] }\n')).toEqual({
      v: { a: expression('var.x'), b: ['c', expression('var.y')] },
    })
  })

  it('reads comments and blanks in expressions in linear time', async () => {
    const source = `var.x${' '.repeat(50_000)}${'/* a */ '.repeat(10_000)}+ var.y`
    const comments = ' /* b */'.repeat(10_000)
    const check = () => expect(read(`v = ${source}${comments}\n`)).toEqual({ v: expression(source) })
    expect(await cpuMsOf(check)).toBeLessThan(5_000)
  })

  it('knows the line of each field', () => {
    const text =
      'resource "a" "one" {\n\n  map = {\n    x = 1\n    y = [\n      2\n    ]\n  }\n  block {}\n  block {\n    z = 1\n  }\n}\n'
    const [document] = readHclDocument(text, 'main.tf').documents
    const at = ['resource', 'a', 'one']
    expect(document?.lineOf(at)).toBe(1)
    expect(document?.lineOf([...at, 'map', 'x'])).toBe(4)
    expect(document?.lineOf([...at, 'map', 'y', 0])).toBe(6)
    expect(document?.lineOf([...at, 'block', 1, 'z'])).toBe(11)
    expect(document?.lineOf([...at, 'missing'])).toBe(1)
  })

  it.each([
    ['resource "a" "b" {\n  x = 1\n', 3],
    ['x = "open\n', 1],
    ['x = [1 }\n', 1],
    ['x = f(1 /* open\n', 1],
    ['x = <<EOT\nabc\n', 1],
    ['x = \n', 1],
    ['x = 1\nx = 2\n', 2],
    ['x = "\\q"\n', 1],
    ['x = "${var.x\n', 1],
    [`x = ${'['.repeat(10_000)}`, 1],
    [`x = ${'"${'.repeat(50_000)}`, 1],
    ['{"json": 1}', 1],
  ])('that is invalid is reported with its line: %s', (text, line) => {
    const { documents, errors } = readHclDocument(text, 'main.tf')
    expect(documents).toEqual([])
    expect(errors).toMatchObject([
      { file: 'main.tf', line, message: expect.stringContaining('is not valid Terraform') },
    ])
  })
})
