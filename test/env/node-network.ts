import { withDebian } from './debian.ts'
import { type Network, startNetwork } from './network.ts'
import { NODE_IP } from './node-machine.ts'

const SCRIPT = `
  ip link set lo up
  ip link add node0 type bridge && ip addr add ${NODE_IP}/24 dev node0 && ip link set node0 up
  ip route add default dev node0
  echo 1 >/proc/sys/net/ipv4/ip_forward
  echo ready
  exec sleep infinity`

/** Starts the network of a node and its pods. */
export function startNodeNetwork(debian: string): Promise<Network> {
  const holder = withDebian(debian, { file: 'sh', args: ['-ec', SCRIPT], directory: '/' }, ['--net'])
  return startNetwork({ holder, address: NODE_IP })
}
