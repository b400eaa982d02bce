import { expect, it } from 'vitest'
import { commandName, suggestCommands } from '../../../src/cli/up/suggested-commands.ts'
import type { ResourceRow } from '../../../src/operator/main.ts'

const row = (kind: string, name: string, spec: object): ResourceRow =>
  ({ kind, name, ready: 'True', resource: { kind, metadata: { name }, spec, status: {} } }) as unknown as ResourceRow
const SINK = row('Connector', 'copy', { class: 'FileStreamSink', config: { file: 'out/a.txt', topics: 'orders, b' } })

it('are three commands that work as they are', () => {
  expect(suggestCommands([row('Subject', 'orders-value', {}), SINK], 'weir')).toEqual([
    'tail -f out/a.txt',
    'weir topic peek orders',
    'weir describe connector/copy',
  ])
})

it('leave out what is not Ready, and words that a shell would not read as they are', () => {
  const evil = row('Connector', 'x;reboot', { class: 'FileStreamSink', config: { file: '$(reboot)', topics: '' } })
  expect(suggestCommands([evil, { ...SINK, ready: 'False' } as ResourceRow], 'weir')).toEqual([])
})

it('begin with the script of npm in a checkout', () => {
  expect(commandName({ npm_lifecycle_event: 'start' })).toBe('npm run -s weir --')
  expect(commandName({})).toBe('weir')
})
