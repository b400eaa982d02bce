import { existsSync } from 'node:fs'
import { findDebian, unpackDebian } from './debian.ts'
import { binaryOf, buildAllGo, findGo, type GoProgram } from './go-toolchain.ts'
import { API_SERVER, ETCD, KUBERNETES_VERSION, kubernetesProgram } from './kubernetes.ts'
import type { Part } from './part.ts'

const PACKAGES = ['containerd', 'runc', 'containernetworking-plugins', 'iptables', 'iproute2'] as const
const COREDNS = '1.15.0'
const PROGRAMS = {
  etcd: ETCD,
  apiServer: API_SERVER,
  controllerManager: kubernetesProgram('kube-controller-manager'),
  scheduler: kubernetesProgram('kube-scheduler'),
  kubelet: kubernetesProgram('kubelet'),
  kubeProxy: kubernetesProgram('kube-proxy'),
  coreDns: { name: 'coredns', version: COREDNS, module: 'coredns', package: '.' },
  pause: { name: 'pause', version: '1', module: 'pause', package: '.' },
} as const satisfies Readonly<Record<string, GoProgram>>

export type NodeToolsAddress = {
  /** Folder of the unpacked packages with containerd and the programs that it runs. */
  readonly debian: string
  readonly binaries: Readonly<Record<keyof typeof PROGRAMS, string>>
}

/** The programs of a cluster with one node. `startNodeCluster` runs them. */
export function nodeToolsPart(name: string): Part<NodeToolsAddress> {
  return {
    name,
    version: KUBERNETES_VERSION,
    async find() {
      const debian = await findDebian(PACKAGES)
      if (debian.how === 'missing') return debian
      if (!existsSync('/sys/fs/cgroup/memory')) {
        return { how: 'missing', detail: 'a node was tried with control groups of version 1 only' }
      }
      const areBuilt = Object.values(PROGRAMS).every((program) => existsSync(binaryOf(program)))
      const detail = 'Kubernetes by Go, containerd and runc from Debian'
      if (areBuilt) return { how: 'toolchain', detail, cached: debian.how === 'toolchain' && debian.cached }
      return findGo()
    },
    async start() {
      const names = Object.keys(PROGRAMS) as (keyof typeof PROGRAMS)[]
      const files = await buildAllGo(Object.values(PROGRAMS))
      const binaries = Object.fromEntries(names.map((program, at) => [program, files[at] ?? '']))
      const address = { debian: await unpackDebian(PACKAGES), binaries: binaries as NodeToolsAddress['binaries'] }
      return { address, stop: async () => {} }
    },
  }
}
