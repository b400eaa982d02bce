import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import type { KubernetesAddress } from '../env/kubernetes.ts'
import { npmFolder } from '../env/npm.ts'
import type { Server } from '../env/process.ts'
import { weirCommand } from './cli.ts'
import { type Helm, helmAt } from './helm.ts'
import { kubeApi } from './kube-api.ts'
import { kubeResources } from './kube-resources.ts'
import { containersOf, type Program as ImageProgram, type PodSpec } from './kubelet.ts'
import type { Sandbox } from './sandbox.ts'
import { until } from './until.ts'

const WAIT = { everyMs: 100, timeoutMs: 120_000 }
const LOOK_MS = 100
const GRACE_MS = 30_000
const PROGRAMS = { operator: 8080, registry: 8081, worker: 8083 }

type Program = keyof typeof PROGRAMS
type Pod = Server & { readonly logFile: string }
type Workload = {
  readonly metadata: { readonly uid: string; readonly generation: number }
  readonly spec: { readonly template: { readonly spec: PodSpec } }
  readonly status?: { readonly observedGeneration?: number; readonly readyReplicas?: number }
}
type TestPod = { readonly metadata: { readonly uid: string }; readonly spec: PodSpec }
type Place = { readonly name: string; readonly namespace: string; readonly address: KubernetesAddress }

/**
 * Runs a release of the chart in a cluster that has only an API server, by doing the work of the controllers and the
 * kubelet: one pod per workload. A pod has the command, environment, files, service account and user of its workload;
 * the program comes from this machine instead of the image.
 */
export function runRelease({ name, namespace, address }: Place, sandbox: Sandbox) {
  const api = kubeApi(address)
  const resources = kubeResources(api)
  /** The running pods; `source` identifies the version of the workload that each was created from. */
  const pods = new Map<Program, { readonly pod: Pod; readonly source: string }>()
  const tested = new Set<string>()
  const logs = new Map<string, string>()
  const ending = new AbortController()

  const workload = (program: Program) => ({
    apiVersion: 'apps/v1',
    kind: program === 'operator' ? 'Deployment' : 'StatefulSet',
    metadata: { name: `${name}-${program}`, namespace },
  })
  const testPod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: `${name}-test`, namespace } }

  const start = async (spec: PodSpec, pod: string): Promise<Pod> => {
    const names = ['registry', 'worker'].map((program) => `${name}-${program}`)
    const hosts = names.flatMap((each) => [`${each}.${namespace}.svc`, `${each}-0.${each}-pods.${namespace}.svc`])
    const containers = await containersOf(spec, { name: pod, namespace, hosts }, address, programOf)
    for (const container of containers.slice(0, -1)) {
      const before = sandbox.start(container)
      await until(`the end of ${container.name}`, WAIT, before.hasExited)
      const output = readFileSync(before.logFile, 'utf8')
      if ((await before.end(0)) !== 0) throw new Error(`${container.name} failed:\n${output.slice(-2_000)}`)
    }
    const started = sandbox.start(containers.at(-1)!)
    logs.set(pod, started.logFile)
    return started
  }
  const isReady = (program: Program, spec: PodSpec) => {
    const { path, scheme } = spec.containers[0]!.readinessProbe!.httpGet
    return sandbox.ask(PROGRAMS[program], path, scheme).then(
      ({ status }) => status === 200,
      () => false,
    )
  }

  /** Stops an outdated pod before others start, because all share one network. */
  async function end(program: Program): Promise<void> {
    const running = pods.get(program)
    if (running === undefined) return
    const wanted = await resources.get<Workload>(workload(program))
    if (wanted !== undefined && running.source === sourceOf(wanted)) return
    pods.delete(program)
    await running.pod.end(GRACE_MS)
  }

  async function keep(program: Program): Promise<void> {
    const wanted = await resources.get<Workload>(workload(program))
    if (wanted === undefined || pods.has(program)) return
    const { spec } = wanted.spec.template
    const pod = await start(spec, `${name}-${program}-0`)
    pods.set(program, { pod, source: sourceOf(wanted) })
    await until(`${program} to be ready`, WAIT, async () => pod.hasExited() || (await isReady(program, spec)))
    if (pod.hasExited()) throw new Error(`${program} died:\n${readFileSync(pod.logFile, 'utf8').slice(-2_000)}`)
    const counts = { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 }
    await resources.setStatus(workload(program), { observedGeneration: wanted.metadata.generation, ...counts })
  }

  /** Services are not routed here, so the API server cannot call the webhook that admits hard deletions. */
  async function allowDeletionsWithoutWebhook(): Promise<void> {
    const path = `/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/weir-${namespace}`
    const { webhooks } = (await api.send('GET', path)).body as { readonly webhooks?: readonly object[] }
    if (webhooks === undefined) return
    const ignored = webhooks.map((webhook) => ({ ...webhook, failurePolicy: 'Ignore' }))
    await api.send('PATCH', path, { webhooks: ignored }, 'application/merge-patch+json')
  }

  async function runTest(): Promise<void> {
    const made = await resources.get<TestPod>(testPod)
    if (made === undefined || tested.has(made.metadata.uid)) return
    tested.add(made.metadata.uid)
    await allowDeletionsWithoutWebhook()
    const running = await start(made.spec, testPod.metadata.name)
    await until('the end of the test', WAIT, () => running.hasExited())
    const exitCode = await running.end(0)
    await resources.setStatus(testPod, { phase: exitCode === 0 ? 'Succeeded' : 'Failed' })
  }

  const keeping = (async () => {
    while (!ending.signal.aborted) {
      const programs = Object.keys(PROGRAMS) as Program[]
      for (const program of programs) await end(program)
      for (const program of programs) await keep(program)
      await runTest()
      await sleep(LOOK_MS, undefined, { signal: ending.signal }).catch(() => undefined)
    }
  })()
  const failed = keeping.then(() => new Promise<never>(() => undefined))
  failed.catch(() => undefined)

  return {
    resources,
    /** Resolves when the pods of these programs match their workloads and are ready. */
    settled: (...programs: readonly Program[]) =>
      Promise.race([
        failed,
        until(`${programs.join(', ')} to be rolled out`, WAIT, async () => {
          const found = await Promise.all(programs.map((program) => resources.get<Workload>(workload(program))))
          return found.every(
            (each) => each?.status?.readyReplicas === 1 && each.status.observedGeneration === each.metadata.generation,
          )
        }),
      ]),
    /** The output of the last pod with this name. */
    logOf: (pod: string) => readFileSync(logs.get(pod)!, 'utf8'),
    async stop(): Promise<void> {
      ending.abort()
      await keeping.catch(() => undefined)
    },
  }
}

/** Includes the uid, because the generation starts at 1 again when a workload is reinstalled. */
function sourceOf({ metadata: { uid, generation } }: Workload): string {
  return `${uid}/${generation}`
}

/** The programs of the images: Weir, and npm. */
async function programOf(command: readonly string[] | undefined): Promise<ImageProgram> {
  const { file, args } = weirCommand('/', [])
  const [first, ...words] = command ?? [file, ...args]
  if (first !== 'npm') return { words: [first!, ...words], mounts: [] }
  const mounts = [{ path: '/npm', folder: await npmFolder(), readOnly: true }]
  return { words: [process.execPath, '/npm/bin/npm-cli.js', ...words], mounts }
}

export type Release = ReturnType<typeof runRelease>

/** Runs Helm in one namespace of a cluster. A failed call fails the test. */
export function helmIn(namespace: string, binary: string, { kubeconfig }: KubernetesAddress) {
  const charts: Helm = helmAt(binary, kubeconfig)
  return {
    values: (values: object) => ['--values', charts.valuesFile(values)],
    async call(...args: readonly string[]): Promise<string> {
      const { code, stdout, stderr } = await charts.call([...args, '--namespace', namespace])
      expect(code, `helm ${args[0]}: ${stderr}`).toBe(0)
      return stdout
    },
  }
}
