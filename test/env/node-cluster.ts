import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { kubeApi } from '../support/kube-api.ts'
import { until } from '../support/until.ts'
import { writeBinaryImage } from './binary-image.ts'
import { clusterDns, DNS_IMAGE } from './cluster-dns.ts'
import { must, withDebian } from './debian.ts'
import type { Network } from './network.ts'
import { type ControlPlane, startControlPlane } from './node-control-plane.ts'
import { NODE_NAME, PAUSE_IMAGE, removeControlGroups, startMachine } from './node-machine.ts'
import { startNodeNetwork } from './node-network.ts'
import type { NodeToolsAddress } from './node-tools.ts'
import { tail, untilReady } from './process.ts'
import { removeDirectory } from './remove-directory.ts'
import { partDirectory } from './workspace.ts'

const READY = { everyMs: 200, timeoutMs: 240_000 }

/** A cluster with one real node, in a separate network namespace. */
export type NodeCluster = Pick<Network, 'offer' | 'reach'> &
  Pick<ControlPlane, 'api'> & {
    /** Imports an image from a file in the format of `docker save`. */
    importImage(archive: string): Promise<void>
    /** Simulates a power failure: the node and its pods are killed at once. Its disk and the control plane remain. */
    unplug(): Promise<void>
    /** Starts the node after `unplug`. */
    plugIn(): void
    /** Directory with the output of its containers: `<namespace>_<pod>_<uid>/<container>/<n>.log`. */
    readonly podLogs: string
    /** The end of the logs of its processes. */
    nodeLogs(): string
    stop(): Promise<void>
  }

/** Takes about 10 s. Resolves when the node is Ready and its DNS responds. */
export async function startNodeCluster(tools: NodeToolsAddress): Promise<NodeCluster> {
  const directory = partDirectory('node')
  const file = (name: string) => join(directory, name)
  const network = await startNodeNetwork(tools.debian)
  const { api, kubeconfig, stop: stopControlPlane } = await startControlPlane(tools, directory, network)
  const plugIn = () => startMachine({ tools, directory, kubeconfig, networkPid: network.pid })
  let machine = plugIn()
  const importImage = async (archive: string) => {
    const args = ['--address', file('c.sock'), '--namespace', 'k8s.io', 'images', 'import', archive]
    await must(withDebian(tools.debian, { file: 'ctr', args, directory }))
  }
  const nodeLogs = () => machine.logFiles.map(tail).join('\n')
  const stop = async () => {
    await machine.kill()
    await stopControlPlane()
    await network.stop()
    removeDirectory(directory)
    await removeControlGroups()
  }
  try {
    await untilReady(machine.server, { what: 'the node', logFiles: machine.logFiles, timeoutMs: READY.timeoutMs }, () =>
      existsSync(file('kubelet/pki')),
    )
    for (const [reference, binary] of [
      [PAUSE_IMAGE, tools.binaries.pause],
      [DNS_IMAGE, tools.binaries.coreDns],
    ] as const)
      await importImage(await writeBinaryImage(join(directory, reference.replaceAll(/\W/g, '-')), reference, binary))
    await bringUp(api)
  } catch (error) {
    const logs = nodeLogs()
    await stop()
    throw new Error(`the node did not start. The end of its logs:\n${logs}`, { cause: error })
  }
  return {
    api,
    offer: network.offer,
    reach: network.reach,
    importImage,
    podLogs: file('pod-logs'),
    nodeLogs,
    unplug: () => machine.kill(),
    plugIn() {
      machine = plugIn()
    },
    stop,
  }
}

type Conditions = { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }

async function bringUp(address: ControlPlane['api']): Promise<void> {
  const { send } = kubeApi(address)
  const isTrue = async (path: string, condition: string) => {
    const { conditions = [] } = ((await send('GET', path)).body['status'] ?? {}) as Conditions
    return conditions.some(({ type, status }) => type === condition && status === 'True')
  }
  for (const [path, body] of clusterDns()) {
    const { status, body: answer } = await send('POST', path, body)
    if (status !== 201) throw new Error(`${path} answered ${status}: ${JSON.stringify(answer)}`)
  }
  await until('the node to be Ready', READY, () => isTrue(`/api/v1/nodes/${NODE_NAME}`, 'Ready'))
  const dns = '/apis/apps/v1/namespaces/kube-system/deployments/coredns'
  await until('the cluster’s DNS', READY, () => isTrue(dns, 'Available'))
}
