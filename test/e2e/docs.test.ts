import { mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { startKubernetes } from '../env/kubernetes.ts'
import { itOn, real } from '../env/real.ts'
import { partDirectory } from '../env/workspace.ts'
import { helmIn, runRelease } from '../support/chart-release.ts'
import { type CommandBlock, DOC_PAGES, docBlocks } from '../support/doc-commands.ts'
import { createDocShell } from '../support/doc-shell.ts'
import { kubeApi } from '../support/kube-api.ts'
import { startSandbox } from '../support/sandbox.ts'
import { createTestNamespace, WAIT } from '../support/test-namespace.ts'
import { until } from '../support/until.ts'

const [helm, kubectl] = [await real('helm'), await real('kubectl')]
const [kubernetes, sandboxes] = [await real('kubernetes'), await real('sandbox')]
const NAMESPACE = 'weir'
const TIMEOUT_MS = 400_000

for (const page of DOC_PAGES.cluster.pages) {
  itOn([helm, kubectl, kubernetes, sandboxes], `${page}: every command runs`, () => follow(page), TIMEOUT_MS)
}

/** Executes a page from top to bottom, as a reader in a checkout would. */
async function follow(page: string): Promise<void> {
  const blocks = docBlocks(page)
  const control = await startKubernetes()
  onTestFinished(() => control.stop())
  const sandbox = await startSandbox(sandboxes.address)
  onTestFinished(() => sandbox.stop())
  await sandbox.offer(Number(new URL(control.url).port))
  const release = runRelease({ name: 'weir', namespace: NAMESPACE, address: control }, sandbox)
  onTestFinished(() => release.stop())
  if (blocks.some((block) => 'needs' in block && block.needs === 'operator')) {
    const weir = helmIn(NAMESPACE, helm.address.file, control)
    const values = weir.values({ kafka: { embedded: { enabled: true } } })
    await weir.call('install', 'weir', 'weir', '--create-namespace', ...values)
    await release.settled('operator')
    const namespace = await createTestNamespace(kubeApi(control), NAMESPACE)
    const config = { 'kafka.topic': 'made-up', quickstart: 'orders', 'value.converter': 'StringConverter' }
    await namespace.apply('Connector', 'orders', { class: 'Datagen', config })
    await namespace.condition('connectors', 'orders', 'Ready', 'True/Succeeded')
  }
  const shell = await createDocShell(page, toolsEnv(control.kubeconfig))
  onTestFinished(() => shell.kill())
  for (const block of blocks) {
    if (block.kind === 'file') shell.write(block.name, block.text)
    else if (block.kind === 'start') await shell.start(block)
    else if (block.kind === 'run' && block.needs === 'pod') await inPod(block)
    else if (block.kind === 'run') await shell.run(block)
    if (block.kind === 'run' && leavesUpgraded(block.text)) await release.settled('operator')
  }
  await shell.stop()

  async function inPod({ text, line }: CommandBlock): Promise<void> {
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

/** Variables with which `helm` and `kubectl` are found and use the API server; `~/.kube/config` is the same file. */
function toolsEnv(kubeconfig: string): Readonly<Record<string, string>> {
  const tools = partDirectory('tools')
  symlinkSync(helm.address.file, join(tools, 'helm'))
  symlinkSync(kubectl.address.file, join(tools, 'kubectl'))
  mkdirSync(join(tools, '.kube'))
  symlinkSync(kubeconfig, join(tools, '.kube/config'))
  return {
    HOME: tools,
    KUBECONFIG: kubeconfig,
    KUBECACHEDIR: tools,
    HELM_CACHE_HOME: tools,
    HELM_CONFIG_HOME: tools,
    HELM_DATA_HOME: tools,
    PATH: `${tools}:${dirname(process.execPath)}:${process.env['PATH']}`,
  }
}
