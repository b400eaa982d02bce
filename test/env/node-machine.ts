import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../support/until.ts'
import { withDebian } from './debian.ts'
import type { NodeToolsAddress } from './node-tools.ts'
import { type Server, startServer } from './process.ts'
import { removeDirectory } from './remove-directory.ts'

export const NODE_NAME = 'node0'
/** Address of the node in its network. */
export const NODE_IP = '10.200.0.1'
export const DNS_IP = '10.96.0.10'
export const PAUSE_IMAGE = 'weir.test/pause:1'
const END = { everyMs: 20, timeoutMs: 120_000 }
const POD_NETWORK = '10.201.0.0/24'
const CONTROL_GROUPS = '/sys/fs/cgroup'
/** Name of a control group: the folder of the workspace, and the folder of the machine in it. */
const GROUP = /^(weir-env-\w+)-(node-\d+)$/

/** A machine of the cluster: containerd, kubelet and kube-proxy. */
export type Machine = {
  readonly server: Server
  readonly logFiles: readonly string[]
  /** Kills all its processes at once, as a power failure does, and waits until none is left. */
  kill(): Promise<void>
}

export type MachineOptions = {
  readonly tools: NodeToolsAddress
  /** Its disk, which is kept across restarts. */
  readonly directory: string
  readonly kubeconfig: string
  /** Id of a process in its network namespace. */
  readonly networkPid: number
}

/**
 * Starts a machine as process 1 of a new PID namespace, so that however it ends, all its processes and containers end
 * with it. It also has a separate mount namespace, so that its mounts are removed.
 */
export function startMachine({ tools, directory, kubeconfig, networkPid }: MachineOptions): Machine {
  const file = (name: string) => join(directory, name)
  const group = controlGroup(directory)
  // A real system has `/run` in memory.
  removeDirectory(file('run'))
  for (const name of ['cni', 'kubelet', 'plugins']) mkdirSync(file(name), { recursive: true })
  writeFileSync(file('cni/10-bridge.conflist'), JSON.stringify(networkOf(file)))
  writeFileSync(file('containerd.toml'), containerdSettings(file))
  writeFileSync(file('kubelet.yaml'), JSON.stringify(kubeletSettings(file, group)))
  writeFileSync(file('proxy.yaml'), JSON.stringify(proxySettings(kubeconfig)))
  const script = `
    mount --make-rshared /
    for controller in ${CONTROL_GROUPS}/*/; do mkdir -p "\${controller}${group}" || true; done
    run() { name=$1; shift; "$@" >>${directory}/$name.log 2>&1 & }
    run containerd containerd -c containerd.toml
    until ctr -a c.sock version >/dev/null 2>&1; do sleep 0.1; done
    run kube-proxy ${tools.binaries.kubeProxy} --config proxy.yaml
    exec ${tools.binaries.kubelet} --config kubelet.yaml --kubeconfig ${kubeconfig} --root-dir ${file('kubelet')} \\
      --cert-dir ${file('kubelet/pki')} --hostname-override ${NODE_NAME} --node-ip ${NODE_IP}`
  const inside = { file: 'sh', args: ['-c', script], directory }
  const unshared = withDebian(tools.debian, inside, ['--pid', '--fork', '--kill-child', '--mount-proc'])
  const args = ['--target', String(networkPid), '--net', unshared.file, ...unshared.args]
  const server = startServer({ ...unshared, file: 'nsenter', args }, file('kubelet.log'))
  return {
    server,
    logFiles: ['containerd.log', 'kube-proxy.log', 'kubelet.log'].map(file),
    async kill() {
      if (server.hasExited()) return
      // `unshare` ends with process 1, which the kernel ends after all others of its namespace. If `unshare` were killed
      // instead, a machine that starts next could find ports and files in use.
      for (const pid of childrenOf(server)) process.kill(pid, 'SIGKILL')
      await until('the end of the machine', END, () => server.hasExited())
    },
  }
}

function childrenOf({ pid }: Server): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
}

/** Removes the control groups of machines whose directory no longer exists. A machine that was killed leaves them. */
export async function removeControlGroups(): Promise<void> {
  for (const controller of await readdir(CONTROL_GROUPS)) {
    for (const group of await readdir(join(CONTROL_GROUPS, controller)).catch(() => [])) {
      const [, workspace = '', name = ''] = GROUP.exec(group) ?? []
      if (workspace === '' || existsSync(join(tmpdir(), workspace, name))) continue
      await removeGroups(join(CONTROL_GROUPS, controller, group))
    }
  }
}

async function removeGroups(root: string): Promise<void> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const deepestFirst = entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort((one, other) => other.length - one.length)
  for (const folder of [...deepestFirst, root]) removeGroup(folder)
}

/** A group whose processes are still exiting cannot be removed; the next cleanup removes it. */
function removeGroup(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {}
}

function controlGroup(directory: string): string {
  return directory.split('/').slice(-2).join('-')
}

function networkOf(file: (name: string) => string): object {
  const ipam = {
    type: 'host-local',
    dataDir: file('ipam'),
    ranges: [[{ subnet: POD_NETWORK }]],
    routes: [{ dst: '0.0.0.0/0' }],
  }
  return {
    cniVersion: '0.4.0',
    name: 'weir',
    plugins: [
      { type: 'bridge', bridge: 'cni0', isGateway: true, ipMasq: true, hairpinMode: true, ipam },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  }
}

function containerdSettings(file: (name: string) => string): string {
  return `version = 2
root = "${file('images')}"
state = "${file('run')}"
[grpc]
  address = "${file('c.sock')}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${PAUSE_IMAGE}"
  # Without the right to lower it.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${file('cni')}"
`
}

function kubeletSettings(file: (name: string) => string, group: string): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    failCgroupV1: false,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${group}`,
    containerRuntimeEndpoint: `unix://${file('c.sock')}`,
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    failSwapOn: false,
    evictionHard: { 'memory.available': '100Mi' },
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    resolvConf: '',
    clusterDNS: [DNS_IP],
    clusterDomain: 'cluster.local',
    podLogsDir: file('pod-logs'),
    volumePluginDir: file('plugins'),
    // Short, because tests wait for the status after a restart.
    nodeStatusUpdateFrequency: '2s',
  }
}

function proxySettings(kubeconfig: string): object {
  return {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'iptables',
    clientConnection: { kubeconfig },
    hostnameOverride: NODE_NAME,
    clusterCIDR: POD_NETWORK,
    // Not changed, because these settings are global, not per network namespace.
    conntrack: { maxPerCore: 0, min: 0, tcpCloseWaitTimeout: '0s', tcpEstablishedTimeout: '0s' },
  }
}
