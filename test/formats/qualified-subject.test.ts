import { describe, expect, it } from 'vitest'
import { contextOf, qualifySubject, splitSubject } from '../../src/formats/qualified-subject.ts'

describe('a qualified subject', () => {
  it.each([
    ['orders', '.', 'orders'],
    [':.:orders', '.', 'orders'],
    [':.d:orders', '.d', 'orders'],
    [':.c:', '.c', ''],
    ['a:b/c', '.', 'a:b/c'],
    [':x', '.', ':x'],
    [':x:y', '.', ':x:y'],
    [':.c:a:b\nc', '.c', 'a:b\nc'],
    ['', '.', ''],
  ])('%j has the context %j and the name %j', (subject, context, name) => {
    expect(splitSubject(subject)).toEqual({ context, name })
    expect(contextOf(subject)).toBe(context)
    expect(splitSubject(qualifySubject(subject))).toEqual({ context, name })
  })

  it.each([
    ['orders', '.', 'orders'],
    [':.:orders', '.c', 'orders'],
    ['orders', '.c', ':.c:orders'],
    [':.d:orders', '.c', ':.d:orders'],
    ['a\nb', '.c', ':.c:a\nb'],
  ])('of the name %j in the context %j is %j', (name, context, qualified) => {
    expect(qualifySubject(name, context)).toBe(qualified)
  })
})
