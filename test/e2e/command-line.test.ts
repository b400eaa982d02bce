import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { packageVersion } from '../../src/common/package-version.ts'
import { run } from '../env/process.ts'
import { runWeir, weirCommand } from '../support/cli.ts'

describe('the command line', () => {
  it.each([
    [['--version'], 0, new RegExp(`^weir ${packageVersion().replaceAll('.', '\\.')} \\(Node\\.js v24\\.`)],
    [['help', 'dlq'], 0, /^usage: weir dlq show TOPIC/],
    [['plugins', 'describe', 'FileStreamSnk'], 1, /did you mean FileStreamSink\?/],
    [['complete', '--', 'pau'], 0, /^pause\tpause connectors\n/],
    [['complete', '--', 'get', '--wa'], 0, /^--watch\t/],
    [['completion', 'fihs'], 2, /did you mean fish\?/],
    [['upp'], 2, /unknown command 'upp'; did you mean up\?/],
    [['dlq', 'shwo', 'orders-dead'], 2, /unknown command 'weir dlq shwo'; did you mean show\?/],
    [['data', 'verfy', '.'], 2, /unknown command 'weir data verfy'; did you mean verify\?/],
    [['topic', 'restor', 'x'], 2, /unknown command 'weir topic restor'; did you mean restore\?/],
    [['takeover', 'status', 'wrker'], 2, /unknown command 'weir takeover status wrker'; did you mean worker\?/],
    [['data'], 2, /expected a command and a directory: weir data verify DIR/],
  ])('answers %j with exit code %i', async (args, code, text) => {
    const output = await runWeir('.', ...args)
    expect(output.code).toBe(code)
    expect(output.stdout + output.stderr).toMatch(text)
  })

  it('says what completion in bash needs, where it is missing', async () => {
    const { stdout } = await runWeir('.', 'completion', 'bash')
    const script = `source <(cat); complete -p weir`
    const answer = spawnSync('bash', ['--norc', '-c', script], { input: stdout, encoding: 'utf8' })
    expect(answer).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^weir: completion in bash needs the package bash-completion/),
    })
  })

  it('says which Node.js it needs on an older one', async () => {
    const older = "data:text/javascript,Object.defineProperty(process.versions,'node',{value:'22.4.0'})"
    const output = await run(weirCommand('.', ['--version'], ['--import', older]))
    expect(output).toMatchObject({ code: 2, stdout: '' })
    expect(output.stderr).toMatch(/^weir: needs Node\.js 24 or newer, and .+ is v/)
    expect(output.stderr.trim().split('\n')).toHaveLength(1)
  })
})
