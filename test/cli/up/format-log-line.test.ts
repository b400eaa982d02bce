import { expect, it } from 'vitest'
import { formatLogLine } from '../../../src/cli/up/format-log-line.ts'

it('shows control characters of a log line as their codes', () => {
  const line = { time: '2026-01-01T12:00:00.000Z', level: 40, msg: 'a', value: '\u001b]0;title\u0007\n\u009b2J' }
  expect(formatLogLine(JSON.stringify(line), 200)).toContain('12:00:00 a value=\\u001b]0;title\\u0007 \\u009b2J')
})
