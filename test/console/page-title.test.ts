import { expect, it } from 'vitest'
import { pageTitle } from '../../src/console/page/page-title.ts'

it.each([
  [[], 'Overview – Weir'],
  [['new-connector'], 'New connector – Weir'],
  [['subjects', 'orders-value'], 'orders-value – Subjects – Weir'],
  [['connectors', 'a-b', 'dead-letters'], 'Dead letters – a-b – Connectors – Weir'],
])('The title of the window at %j is %j', (path, title) => expect(pageTitle(path)).toBe(title))
