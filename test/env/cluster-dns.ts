import { DNS_IP } from './node-machine.ts'

export const DNS_IMAGE = 'weir.test/coredns:1'

const NAMESPACE = 'kube-system'
const LABELS = { 'k8s-app': 'kube-dns' }
const COREFILE = `.:53 {
  errors
  ready
  kubernetes cluster.local in-addr.arpa {
    pods insecure
  }
}
`

/** The objects of a CoreDNS deployment, each with the API path at which it is created. */
export function clusterDns(): readonly (readonly [path: string, body: object])[] {
  const metadata = { name: 'coredns', namespace: NAMESPACE }
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  const group = 'rbac.authorization.k8s.io'
  const rules = [
    { apiGroups: [''], resources: ['services', 'namespaces', 'pods'], verbs: ['list', 'watch'] },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
  ]
  return [
    [`/api/v1/namespaces/${NAMESPACE}/serviceaccounts`, { metadata }],
    [`${rbac}/clusterroles`, { metadata: { name: 'coredns' }, rules }],
    [
      `${rbac}/clusterrolebindings`,
      {
        metadata: { name: 'coredns' },
        roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'coredns' },
        subjects: [{ kind: 'ServiceAccount', ...metadata }],
      },
    ],
    [`/api/v1/namespaces/${NAMESPACE}/configmaps`, { metadata, data: { Corefile: COREFILE } }],
    [`/apis/apps/v1/namespaces/${NAMESPACE}/deployments`, { metadata, spec: deployment() }],
    [
      `/api/v1/namespaces/${NAMESPACE}/services`,
      {
        metadata: { name: 'kube-dns', namespace: NAMESPACE },
        spec: {
          clusterIP: DNS_IP,
          selector: LABELS,
          ports: ['UDP', 'TCP'].map((protocol) => ({ name: protocol.toLowerCase(), port: 53, protocol })),
        },
      },
    ],
  ]
}

function deployment(): object {
  const container = {
    name: 'coredns',
    image: DNS_IMAGE,
    imagePullPolicy: 'Never',
    args: ['-conf', '/etc/coredns/Corefile'],
    readinessProbe: { httpGet: { path: '/ready', port: 8181 }, periodSeconds: 1 },
    volumeMounts: [{ name: 'config', mountPath: '/etc/coredns' }],
  }
  return {
    selector: { matchLabels: LABELS },
    template: {
      metadata: { labels: LABELS },
      spec: {
        serviceAccountName: 'coredns',
        dnsPolicy: 'Default',
        containers: [container],
        volumes: [{ name: 'config', configMap: { name: 'coredns' } }],
      },
    },
  }
}
