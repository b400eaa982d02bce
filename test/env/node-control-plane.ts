import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { etcdArgs, isReady, type KubernetesAddress, kubeconfigOf, writeCredentials } from './kubernetes.ts'
import type { Network } from './network.ts'
import { NODE_IP } from './node-machine.ts'
import type { NodeToolsAddress } from './node-tools.ts'
import { type Server, startServer, untilReady } from './process.ts'

const API_PORT = 6443
const ETCD_URL = 'http://127.0.0.1:2379'
const PEER_URL = 'http://127.0.0.1:2380'
const READY_TIMEOUT_MS = 180_000
const GRACE_MS = 5_000

export type ControlPlane = {
  /** Its API server, as reachable from this process. */
  readonly api: Omit<KubernetesAddress, 'tls'>
  /** A kubeconfig for processes in its network namespace. */
  readonly kubeconfig: string
  stop(): Promise<void>
}

/** Starts etcd, API server, controller manager and scheduler in `network`. Resolves when the API server is ready. */
export async function startControlPlane(
  tools: NodeToolsAddress,
  directory: string,
  network: Network,
): Promise<ControlPlane> {
  const file = (name: string) => join(directory, name)
  const token = writeCredentials(file)
  const certFile = file('certs/apiserver.crt')
  const servers: Server[] = []
  const start = (name: string, program: string, args: readonly string[]): Server => {
    const server = startServer(network.inside({ file: program, args, directory }), file(`${name}.log`))
    servers.unshift(server)
    return server
  }
  start('etcd', tools.binaries.etcd, etcdArgs(file('etcd'), ETCD_URL, PEER_URL))
  const apiServer = start('kube-apiserver', tools.binaries.apiServer, apiServerArgs(file))
  // The self-signed certificate of the server is valid for `localhost`.
  const url = `https://localhost:${await network.reach(`127.0.0.1:${API_PORT}`)}`
  const logFiles = ['etcd.log', 'kube-apiserver.log'].map(file)
  await untilReady(apiServer, { what: 'the API server', logFiles, timeoutMs: READY_TIMEOUT_MS }, () =>
    isReady(url, token, certFile),
  )
  const ca = readFileSync(certFile, 'utf8')
  const writeKubeconfig = (name: string, server: string) => {
    writeFileSync(file(name), JSON.stringify(kubeconfigOf(server, ca, token)), { mode: 0o600 })
    return file(name)
  }
  const kubeconfig = writeKubeconfig('node.kubeconfig', `https://${NODE_IP}:${API_PORT}`)
  for (const [name, program, args] of controllers(tools, file))
    start(name, program, ['--kubeconfig', kubeconfig, '--leader-elect=false', ...args])
  return {
    api: { url, ca, token, kubeconfig: writeKubeconfig('kubeconfig', url) },
    kubeconfig,
    async stop() {
      for (const server of servers) await server.end(GRACE_MS)
    },
  }
}

function apiServerArgs(file: (name: string) => string): readonly string[] {
  return [
    ...['--etcd-servers', ETCD_URL, '--cert-dir', file('certs')],
    ...['--bind-address', '0.0.0.0', '--advertise-address', NODE_IP, '--secure-port', String(API_PORT)],
    ...['--endpoint-reconciler-type', 'lease', '--service-cluster-ip-range', '10.96.0.0/16'],
    ...['--service-account-issuer', 'https://kubernetes.default.svc'],
    ...['--service-account-key-file', file('sa.pub'), '--service-account-signing-key-file', file('sa.key')],
    ...['--token-auth-file', file('tokens.csv'), '--authorization-mode', 'RBAC', '--profiling=false'],
    ...['--kubelet-preferred-address-types', 'InternalIP'],
  ]
}

type Controller = readonly [name: string, program: string, args: readonly string[]]

function controllers({ binaries }: NodeToolsAddress, file: (name: string) => string): readonly Controller[] {
  const credentials = [
    '--service-account-private-key-file',
    file('sa.key'),
    '--root-ca-file',
    file('certs/apiserver.crt'),
  ]
  // A node failure is detected within seconds instead of minutes.
  const haste = ['--node-monitor-grace-period=10s', '--node-monitor-period=1s', '--node-startup-grace-period=20s']
  const local = ['--bind-address=127.0.0.1']
  return [
    ['kube-controller-manager', binaries.controllerManager, [...local, ...credentials, ...haste]],
    ['kube-scheduler', binaries.scheduler, local],
  ]
}
