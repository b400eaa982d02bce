import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { join } from 'node:path'
import { binaryOf, buildAllGo, findGo, type GoProgram } from './go-toolchain.ts'
import type { Found, Part } from './part.ts'
import { freePort } from './ports.ts'
import { type Server, startServer, untilReady } from './process.ts'
import { removeDirectory } from './remove-directory.ts'
import { SUPPORTED_VERSIONS } from './supported-versions.ts'
import { partDirectory } from './workspace.ts'

export const KUBERNETES_VERSION = SUPPORTED_VERSIONS.kubernetes.tested[0]
export const KUBERNETES_MINOR = KUBERNETES_VERSION.split('.')[1]
/** A directory with `etcd` and `kube-apiserver`; the variable name is that of envtest. */
const VARIABLE = 'KUBEBUILDER_ASSETS'

/** A program from the Kubernetes repository. */
export function kubernetesProgram(name: string): GoProgram {
  const version = [`gitVersion=v${KUBERNETES_VERSION}`, 'gitMajor=1', `gitMinor=${KUBERNETES_MINOR}`]
  const flags = version.map((pair) => `-X k8s.io/component-base/version.${pair}`).join(' ')
  return { name, version: KUBERNETES_VERSION, module: 'kubernetes', package: `k8s.io/kubernetes/cmd/${name}`, flags }
}

export const ETCD: GoProgram = {
  name: 'etcd',
  version: '3.7.3',
  module: 'etcd',
  package: 'go.etcd.io/etcd/server/v3',
}
export const API_SERVER = kubernetesProgram('kube-apiserver')
const PROGRAMS = [ETCD, API_SERVER]
const READY_TIMEOUT_MS = 180_000
const GRACE_MS = 5_000

export type KubernetesAddress = {
  readonly url: string
  /** CA certificate of the server, in PEM. */
  readonly ca: string
  /** Bearer token of a cluster administrator. */
  readonly token: string
  /** Path of a kubeconfig for that administrator. */
  readonly kubeconfig: string
  /** The server's certificate is valid for 127.0.0.1, so a webhook on loopback can use it with `ca` as `caBundle`. */
  readonly tls: { readonly keyFile: string; readonly certFile: string }
}

/** A control plane for one test: etcd and an API server, without a scheduler and controllers. */
export type Kubernetes = KubernetesAddress & {
  /** Process id of the API server. */
  readonly pid: number | undefined
  readonly etcdPid: number | undefined
  /** Kills the API server with SIGKILL. etcd keeps the data. */
  kill(): Promise<void>
  /** After `kill`: starts the API server on the same port. */
  restart(): Promise<void>
  /** Compacts etcd's history, so that outdated watches fail and must list again. */
  compact(): Promise<void>
  stop(): Promise<void>
}

/** Shared by all tests of a run: use unique namespaces, and do not wait for their deletion. */
export function kubernetesPart(name: string): Part<KubernetesAddress> {
  return {
    name,
    version: KUBERNETES_VERSION,
    find: findKubernetes,
    async start() {
      const { url, ca, token, kubeconfig, tls, stop } = await startKubernetes()
      return { address: { url, ca, token, kubeconfig, tls }, stop }
    },
  }
}

async function findKubernetes(): Promise<Found> {
  const named = process.env[VARIABLE]
  if (named !== undefined) return { how: 'environment', detail: `${VARIABLE}=${named}`, cached: true }
  if (PROGRAMS.every((program) => existsSync(binaryOf(program)))) {
    return { how: 'toolchain', detail: 'built by Go before', cached: true }
  }
  return findGo()
}

/** Takes 3 s, plus about 4 min on two cores to build the first time. */
export async function startKubernetes(): Promise<Kubernetes> {
  const binaries = await findBinaries()
  const directory = partDirectory('kubernetes')
  const file = (name: string) => join(directory, name)
  const [etcdPort, peerPort, port] = [await freePort(), await freePort(), await freePort()]
  const etcdUrl = `http://127.0.0.1:${etcdPort}`
  const url = `https://127.0.0.1:${port}`
  const token = writeCredentials(file)
  const etcd = startServer(
    { file: binaries.etcd, args: etcdArgs(file('etcd'), etcdUrl, `http://127.0.0.1:${peerPort}`), directory },
    file('etcd.log'),
  )
  const certFile = file('certs/apiserver.crt')
  const start = async (): Promise<Server> => {
    const args = apiServerArgs(file, etcdUrl, port)
    const server = startServer({ file: binaries.apiServer, args, directory }, file('kube-apiserver.log'))
    const what = { what: `Kubernetes ${KUBERNETES_VERSION}`, timeoutMs: READY_TIMEOUT_MS }
    await untilReady(server, { ...what, logFiles: [file('etcd.log'), file('kube-apiserver.log')] }, () =>
      isReady(url, token, certFile),
    )
    return server
  }
  let server = await start()
  const ca = readFileSync(certFile, 'utf8')
  const kubeconfig = file('kubeconfig')
  writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(url, ca, token)), { mode: 0o600 })
  return {
    url,
    ca,
    token,
    kubeconfig,
    tls: { keyFile: file('certs/apiserver.key'), certFile },
    get pid() {
      return server.pid
    },
    etcdPid: etcd.pid,
    kill: () => server.kill(),
    async restart() {
      server = await start()
    },
    compact: () => compact(etcdUrl),
    async stop() {
      await server.end(GRACE_MS)
      await etcd.kill()
      removeDirectory(directory)
    },
  }
}

async function findBinaries(): Promise<{ readonly etcd: string; readonly apiServer: string }> {
  const named = process.env[VARIABLE]
  if (named !== undefined) return { etcd: join(named, 'etcd'), apiServer: join(named, 'kube-apiserver') }
  const [etcd = '', apiServer = ''] = await buildAllGo(PROGRAMS)
  return { etcd, apiServer }
}

/** Writes the key that signs service account tokens, and the administrator's token, which it returns. */
export function writeCredentials(file: (name: string) => string): string {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  writeFileSync(file('sa.key'), privateKey.export({ type: 'sec1', format: 'pem' }), { mode: 0o600 })
  writeFileSync(file('sa.pub'), publicKey.export({ type: 'spki', format: 'pem' }))
  const token = randomBytes(16).toString('hex')
  writeFileSync(file('tokens.csv'), `${token},admin,admin,"system:masters"\n`, { mode: 0o600 })
  return token
}

export function etcdArgs(directory: string, url: string, peerUrl: string): readonly string[] {
  return [
    ...['--data-dir', directory, '--unsafe-no-fsync', '--log-level', 'error'],
    ...['--listen-client-urls', url, '--advertise-client-urls', url],
    ...['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl],
    ...['--initial-cluster', `default=${peerUrl}`],
  ]
}

function apiServerArgs(file: (name: string) => string, etcdUrl: string, port: number): readonly string[] {
  return [
    ...['--etcd-servers', etcdUrl, '--cert-dir', file('certs')],
    // Its self-signed certificate is valid for the advertised address.
    ...['--bind-address', '127.0.0.1', '--advertise-address', '127.0.0.1', '--secure-port', String(port)],
    ...['--endpoint-reconciler-type', 'none', '--service-cluster-ip-range', '10.96.0.0/16'],
    ...['--service-account-issuer', 'https://kubernetes.default.svc'],
    ...['--service-account-key-file', file('sa.pub'), '--service-account-signing-key-file', file('sa.key')],
    ...['--token-auth-file', file('tokens.csv'), '--authorization-mode', 'RBAC'],
    // The service accounts that this plugin requires are created by a controller that does not run here.
    ...['--disable-admission-plugins', 'ServiceAccount', '--profiling=false'],
  ]
}

export function kubeconfigOf(url: string, ca: string, token: string): object {
  const data = Buffer.from(ca).toString('base64')
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server: url, 'certificate-authority-data': data } }],
    users: [{ name: 'admin', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin', namespace: 'default' } }],
    'current-context': 'test',
  }
}

export function isReady(url: string, token: string, certFile: string): Promise<boolean> {
  if (!existsSync(certFile)) return Promise.resolve(false)
  const options = { ca: readFileSync(certFile), headers: { authorization: `Bearer ${token}` }, agent: false as const }
  return new Promise((resolve) => {
    const request = get(`${url}/readyz`, { ...options, timeout: 2_000 }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    request.once('timeout', () => request.destroy())
    request.once('error', () => resolve(false))
  })
}

/** Compacts etcd up to the current revision, through its JSON gateway. */
async function compact(etcdUrl: string): Promise<void> {
  const call = async (path: string, body: object) => {
    const response = await fetch(`${etcdUrl}/v3/kv/${path}`, { method: 'POST', body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`etcd answered ${response.status}: ${await response.text()}`)
    return (await response.json()) as { header: { revision: string } }
  }
  const { header } = await call('range', { key: Buffer.from('/').toString('base64'), limit: 1 })
  await call('compaction', { revision: header.revision, physical: true })
}
