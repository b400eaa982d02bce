import { cpSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startKubernetes } from '../env/kubernetes.ts'
import { run } from '../env/process.ts'
import { itOn, real } from '../env/real.ts'
import { partDirectory } from '../env/workspace.ts'
import { helmIn, runRelease } from '../support/chart-release.ts'
import { type DocBlock, docBlocks, ROOT } from '../support/doc-commands.ts'
import { kubeApi } from '../support/kube-api.ts'
import { startSandbox } from '../support/sandbox.ts'
import { createTestNamespace, WAIT } from '../support/test-namespace.ts'
import { until } from '../support/until.ts'

const [helm, kubectl] = [await real('helm'), await real('kubectl')]
const [kubernetes, sandboxes] = [await real('kubernetes'), await real('sandbox')]
const PAGES = ['docs/install.md', 'docs/gitops.md', 'docs/operate.md', 'docs/secure.md']
const NAMESPACE = 'weir'
const TIMEOUT_MS = 400_000

/**
 * What blocks may need: `helm` nothing but Helm; `cluster` an API server; `operator` a release of the chart in it, with a
 * Connector; `pod` the same, from within the cluster.
 */
const NEEDS = ['helm', 'cluster', 'operator', 'pod']

describe('the commands of', () => {
  it.each(PAGES)('%s say what they need', (page) => {
    const needs = docBlocks(page).flatMap((block) => (block.kind === 'run' ? block.needs : []))
    expect(needs.length).toBeGreaterThan(4)
    expect(needs.filter((each) => !NEEDS.includes(each))).toEqual([])
  })

  for (const page of PAGES) {
    itOn([helm, kubectl, kubernetes, sandboxes], `${page} work`, () => follow(page), TIMEOUT_MS)
  }
})

/** Goes through a page from top to bottom, as a person would who has the checkout. */
async function follow(page: string): Promise<void> {
  const blocks = docBlocks(page)
  const control = await startKubernetes()
  onTestFinished(() => control.stop())
  const sandbox = await startSandbox(sandboxes.address)
  onTestFinished(() => sandbox.stop())
  await sandbox.offer(Number(new URL(control.url).port))
  const release = runRelease({ name: 'weir', namespace: NAMESPACE, address: control }, sandbox)
  onTestFinished(() => release.stop())
  const isNeeded = (needs: string) => blocks.some((block) => block.kind === 'run' && block.needs === needs)
  if (isNeeded('operator')) {
    const weir = helmIn(NAMESPACE, helm.address.file, control)
    const values = weir.values({ kafka: { embedded: { enabled: true } } })
    await weir.call('install', 'weir', 'weir', '--create-namespace', ...values)
    await release.settled('operator')
    const place = await createTestNamespace(kubeApi(control), NAMESPACE)
    const config = { 'kafka.topic': 'made-up', quickstart: 'orders', 'value.converter': 'StringConverter' }
    await place.apply('Connector', 'orders', { class: 'Datagen', config })
    await place.condition('connectors', 'orders', 'Ready', 'True/Succeeded')
  }
  const shell = shellIn(checkout(), control.kubeconfig)
  for (const block of blocks) {
    if (block.kind === 'file') shell.write(block.name, block.text)
    else if (block.kind === 'run' && block.needs === 'pod') await inPod(block)
    else if (block.kind === 'run') await shell.run(page, block)
    if (block.kind === 'run' && leavesUpgraded(block.text)) await release.settled('operator')
  }

  async function inPod({ text, line }: Extract<DocBlock, { kind: 'run' }>): Promise<void> {
    const hosts = ['operator', 'registry', 'worker'].map((program) => `weir-${program}.${NAMESPACE}.svc`)
    const command = ['/bin/sh', '-ec', text]
    const env = { PATH: '/usr/local/bin:/usr/bin:/bin' }
    const pod = sandbox.start({ name: `line-${line}`, command, env, mounts: [], hosts, user: 65_532 })
    await until(`${page}:${line} to end`, WAIT, () => pod.hasExited())
    expect(await pod.end(0), `${page}:${line}: ${text}`).toBe(0)
  }
}

function leavesUpgraded(commands: string): boolean {
  return commands.includes('helm upgrade') && !commands.includes('helm uninstall')
}

/** What the commands name of the checkout, in a folder where they may write. */
function checkout(): string {
  const directory = partDirectory('docs')
  for (const folder of ['charts', 'examples']) cpSync(join(ROOT, folder), join(directory, folder), { recursive: true })
  for (const name of ['package.json', 'src', 'scripts', 'node_modules'])
    symlinkSync(join(ROOT, name), join(directory, name))
  return directory
}

function shellIn(directory: string, kubeconfig: string) {
  const tools = partDirectory('tools')
  symlinkSync(helm.address.file, join(tools, 'helm'))
  symlinkSync(kubectl.address.file, join(tools, 'kubectl'))
  const env = {
    ...{
      KUBECONFIG: kubeconfig,
      KUBECACHEDIR: tools,
      HELM_CACHE_HOME: tools,
      HELM_CONFIG_HOME: tools,
      HELM_DATA_HOME: tools,
    },
    PATH: `${tools}:${dirname(process.execPath)}:${process.env['PATH']}`,
  }
  return {
    write: (name: string, text: string) => writeFileSync(join(directory, name), text),
    async run(page: string, { text, line }: Extract<DocBlock, { kind: 'run' }>): Promise<void> {
      const { code, stdout, stderr } = await run({ file: 'sh', args: ['-ec', text], directory, env })
      expect(code, `${page}:${line}: ${text}\n${stdout}\n${stderr}`).toBe(0)
    },
  }
}
