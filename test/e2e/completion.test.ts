import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'vitest'
import { API_VERSION } from '../../src/common/resource-api.ts'
import { withDebian } from '../env/debian.ts'
import { describeOn, real } from '../env/real.ts'
import { weirScript } from '../support/cli.ts'
import { openPseudoTerminal, type PseudoTerminal } from '../support/pseudo-terminal.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { until } from '../support/until.ts'
import { startUp } from '../support/up.ts'

const SIZE = { columns: 100, rows: 30 }
const WAIT = { everyMs: 50, timeoutMs: 120_000 }
const PROMPT = 'ready$ '

const python = await real('python')
const shells = await real('shells')

const SHELLS = {
  bash: (home: string) => {
    const script = `PS1='${PROMPT}'\nsource /usr/share/bash-completion/bash_completion\nsource <(weir completion bash)\n`
    writeFileSync(join(home, 'rc'), script)
    const args = ['--noprofile', '--rcfile', join(home, 'rc'), '-i']
    return withDebian(shells.address.debian, { file: 'bash', args, directory: home })
  },
  zsh: (home: string) => {
    const script = `PS1='${PROMPT}'\nautoload -U compinit\ncompinit -u\nsource <(weir completion zsh)\n`
    writeFileSync(join(home, '.zshrc'), script)
    return withDebian(shells.address.debian, { file: shells.address.zsh, args: ['-i'], directory: home })
  },
  fish: (home: string) => {
    writeFileSync(join(home, 'rc'), `function fish_prompt; echo -n '${PROMPT}'; end\nweir completion fish | source\n`)
    const args = ['--no-config', '--init-command', `source ${join(home, 'rc')}`, '--interactive']
    return withDebian(shells.address.debian, { file: 'fish', args, directory: home })
  },
}

describeOn([python, shells], 'the key Tab, beside a running weir up', () => {
  it('completes a command and the name of a live connector in bash, zsh and fish', async () => {
    const directory = temporaryDirectory()
    const spec = { class: 'Datagen', config: { 'kafka.topic': 'orders', quickstart: 'orders', rate: '1' } }
    const manifest = { apiVersion: API_VERSION, kind: 'Connector', metadata: { name: 'generated-orders' }, spec }
    mkdirSync(join(directory, 'manifests'))
    writeFileSync(join(directory, 'manifests/connector.yaml'), JSON.stringify(manifest))
    const up = await startUp({ manifests: 'manifests', directory, log: [] })
    await up.untilLine('Connector', 'generated-orders', ({ ready }) => ready === 'True')

    for (const shellOf of Object.values(SHELLS)) {
      const home = temporaryDirectory()
      writeFileSync(join(home, 'weir'), weirScript(), { mode: 0o755 })
      const places = { HOME: home, ZDOTDIR: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home }
      const env = { ...places, PATH: `${home}:${process.env['PATH']}` }
      const terminal = openPseudoTerminal(python.address.file, { ...shellOf(home), directory, env }, SIZE)
      await untilLastLine(terminal, PROMPT)
      terminal.type('weir desc\t')
      await untilLastLine(terminal, `${PROMPT}weir describe`)
      terminal.type('connectors gen\t')
      await untilLastLine(terminal, `${PROMPT}weir describe connectors generated-orders`)
    }
  })
})

async function untilLastLine(terminal: PseudoTerminal, text: string): Promise<void> {
  let lines: readonly string[] = []
  await until(`'${text}' on the screen`, WAIT, async () => {
    lines = (await terminal.screen()).filter(Boolean)
    return lines.at(-1)?.trimEnd() === text.trimEnd()
  }).catch((error: Error) => {
    throw new Error(`${error.message}:\n${lines.join('\n')}`)
  })
}
