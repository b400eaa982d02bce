import { describe, expect, it } from 'vitest'
import { contextOf } from '../../../src/formats/qualified-subject.ts'
import { checkSubject, toContext, toSubject } from '../../../src/registry/model/subject.ts'

describe('a subject name', () => {
  it.each([
    ['orders', '.', 'orders', '.'],
    [':.:orders', '.c', 'orders', '.'],
    ['orders', '.c', ':.c:orders', '.c'],
    [':.d:orders', '.c', ':.d:orders', '.d'],
    [':.c:', '.', ':.c:', '.c'],
    ['a:b/c', '.', 'a:b/c', '.'],
    [':x', '.', ':x', '.'],
    ['a\nb', '.c', ':.c:a\nb', '.c'],
  ])('%j with the default context %s is the subject %j in context %s', (raw, context, subject, own) => {
    expect([toSubject(raw, context), contextOf(toSubject(raw, context))]).toEqual([subject, own])
  })

  it.each([
    ['c', '.c'],
    ['.c', '.c'],
    [':.c:', '.c'],
    ['.', '.'],
    ['a:b', undefined],
  ])('%j is parsed as the context %j', (raw, context) => {
    expect(toContext(raw)).toBe(context)
  })

  it.each(['__GLOBAL', '__EMPTY', 'a\u0000', ':.__GLOBAL:x'])('is rejected if it is %j', (name) => {
    expect(() => checkSubject(toSubject(name), { rejectEmpty: false })).toThrow(`The specified subject '${name}'`)
  })

  it('can be empty unless rejectEmpty is set', () => {
    expect(checkSubject(toSubject(''), { rejectEmpty: false })).toBe('')
    expect(() => checkSubject(toSubject(''), { rejectEmpty: true })).toThrow('is not a valid')
  })
})
