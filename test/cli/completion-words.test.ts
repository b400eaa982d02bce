import { describe, expect, it } from 'vitest'
import { COMMANDS } from '../../src/cli/command-list.ts'
import { completionsOf, optionsIn } from '../../src/cli/completion/completion-words.ts'
import { commandOfVerb } from '../../src/cli/verbs/verbs.ts'
import { startHttpServer } from '../support/http-server.ts'

describe('the words that complete a command line', () => {
  it('are the options that its help describes', () => {
    const options = new Map(optionsIn(commandOfVerb('get').help))
    expect(options.get('output')).toBe('table, wide, json, yaml or name; default: table')
    expect([...options.keys()]).toEqual(expect.arrayContaining(['watch', 'worker', 'context', 'namespace', 'user']))
  })

  it.each([
    ['get', [''], ['connector', 'connectors', 'subject', 'subjects']],
    ['pause', [''], ['connector', 'connectors']],
    ['topic', [''], ['peek', 'backup', 'restore']],
    ['data', ['--json', 'v'], ['verify', 'repair', 'backup', 'restore']],
    ['plugins', [''], ['list', 'describe', 'install', 'new']],
    ['takeover', [''], ['status', 'plan']],
    ['completion', [''], ['bash', 'zsh', 'fish']],
    ['plugins', ['describe', ''], []],
    ['health', [''], []],
    ['crds', [''], []],
    ['get', ['pods', ''], []],
  ])('are known words: weir %s %j', async (name, args, expected) => {
    expect(await completions(name, args)).toEqual(expected)
  })

  it('are names of the live system, after a kind or a slash', async () => {
    const { url } = await startHttpServer(() => ({ status: 200, body: '["b","a"]' }))
    const at = ['--worker', url]
    expect(await completions('get', [...at, 'connector', ''])).toEqual(['a', 'b'])
    expect(await completions('get', ['connector', 'a', `--worker=${url}`, ''])).toEqual(['b'])
    expect(await completions('restart', [...at, 'connector/'])).toEqual(['connector/a', 'connector/b'])
  })
})

async function completions(name: string, args: readonly string[]): Promise<readonly string[]> {
  return completionsOf(name, (await COMMANDS[name]!.load()).help, args)
}
