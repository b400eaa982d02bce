/**
 * CRDs of other projects whose objects the chart renders. They have the fields that the chart uses, with their original
 * types, and the required fields. Strict validation rejects a rendered field that is missing here.
 */
export function thirdPartyCrds(): readonly object[] {
  return [
    definition('monitoring.coreos.com', 'v1', 'ServiceMonitor', {
      ...required('selector', 'endpoints'),
      selector: selector(),
      endpoints: list(serviceEndpoint()),
    }),
    definition('monitoring.coreos.com', 'v1', 'PrometheusRule', { groups: list(ruleGroup()) }),
    definition('cert-manager.io', 'v1', 'Issuer', { selfSigned: object({ crlDistributionPoints: list(TEXT) }) }),
    definition('cert-manager.io', 'v1', 'Certificate', {
      ...required('issuerRef', 'secretName'),
      secretName: TEXT,
      dnsNames: list(TEXT),
      privateKey: object({
        algorithm: word('RSA', 'ECDSA', 'Ed25519'),
        size: INTEGER,
        rotationPolicy: word('Never', 'Always'),
      }),
      issuerRef: object({ ...required('name'), name: TEXT, kind: TEXT, group: TEXT }),
    }),
    definition('keda.sh', 'v1alpha1', 'ScaledObject', {
      ...required('scaleTargetRef', 'triggers'),
      scaleTargetRef: object({ ...required('name'), apiVersion: TEXT, kind: TEXT, name: TEXT }),
      minReplicaCount: INTEGER,
      maxReplicaCount: INTEGER,
      cooldownPeriod: INTEGER,
      triggers: list(
        object({
          ...required('metadata', 'type'),
          type: TEXT,
          metadata: TEXTS,
          authenticationRef: object({ ...required('name'), name: TEXT, kind: TEXT }),
        }),
      ),
    }),
    definition('keda.sh', 'v1alpha1', 'TriggerAuthentication', {
      secretTargetRef: list(
        object({ ...required('key', 'name', 'parameter'), parameter: TEXT, name: TEXT, key: TEXT }),
      ),
    }),
  ]
}

const TEXT = { type: 'string' }
const INTEGER = { type: 'integer' }
const TEXTS = { type: 'object', additionalProperties: TEXT }
const DURATION = {
  type: 'string',
  pattern: '^(0|(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$',
}
const REQUIRED = Symbol('required')

type Fields = { readonly [REQUIRED]?: readonly string[]; readonly [name: string]: object }

function required(...names: readonly string[]): Fields {
  return { [REQUIRED]: names }
}

function object(fields: Fields): object {
  const names = fields[REQUIRED]
  return { type: 'object', properties: { ...fields }, ...(names && { required: names }) }
}

function list(items: object): object {
  return { type: 'array', items }
}

function word(...words: readonly string[]): object {
  return { type: 'string', enum: words }
}

function selector(): object {
  const expression = object({ ...required('key', 'operator'), key: TEXT, operator: TEXT, values: list(TEXT) })
  return object({ matchLabels: TEXTS, matchExpressions: list(expression) })
}

function secretKey(): object {
  return object({ ...required('key'), name: TEXT, key: TEXT, optional: { type: 'boolean' } })
}

function serviceEndpoint(): object {
  return object({
    port: TEXT,
    path: TEXT,
    scheme: word('http', 'https', 'HTTP', 'HTTPS'),
    interval: DURATION,
    tlsConfig: object({ serverName: TEXT, ca: object({ secret: secretKey() }) }),
    basicAuth: object({ username: secretKey(), password: secretKey() }),
    authorization: object({ type: TEXT, credentials: secretKey() }),
  })
}

function ruleGroup(): object {
  const expr = { 'x-kubernetes-int-or-string': true }
  const rule = object({ ...required('expr'), alert: TEXT, expr, for: DURATION, labels: TEXTS, annotations: TEXTS })
  return object({ ...required('name'), name: TEXT, rules: list(rule) })
}

function definition(group: string, version: string, kind: string, spec: Fields): object {
  const [singular, plural] = [kind.toLowerCase(), `${kind.toLowerCase()}s`]
  const schema = { openAPIV3Schema: object({ ...required('spec'), spec: object(spec) }) }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      ...{ group, scope: 'Namespaced', names: { kind, plural, singular, listKind: `${kind}List` } },
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  }
}
