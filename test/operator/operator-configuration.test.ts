import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { readConfiguration } from '../../src/operator/operator-configuration.ts'
import { needsNamespaces } from '../../src/operator/runtimes.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

let directory: string

beforeEach(() => {
  directory = temporaryDirectory()
})

function file(name: string, text: string): string {
  const path = join(directory, name)
  writeFileSync(path, text)
  return path
}

const read = (...lines: readonly string[]) =>
  readConfiguration(
    file('operator.yaml', ['apiVersion: config.weir.dev/v1alpha1', 'kind: OperatorConfig', ...lines].join('\n')),
  )

describe('the operator’s configuration', () => {
  it('has only valid entries in the shipped example', () => {
    const { runtimesConfig } = readConfiguration(
      join(import.meta.dirname, '../../examples/operator/weir-operator.yaml'),
    )
    const entries = [...runtimesConfig.workers, ...runtimesConfig.registries]
    expect(entries.map(({ name }) => name)).toEqual(['default', 'java', 'default'])
    expect(entries.filter((entry) => 'error' in entry)).toEqual([])
  })

  it('lists workers and registries with their endpoints and allowed namespaces', () => {
    const password = file('password', 'pass\n')
    const token = file('token', 'secret-token\n')
    const ca = file('ca.crt', 'PEM')
    const { instance, watchNamespaces, runtimesConfig } = read(
      'instance: prod-eu',
      'watchNamespaces: [shop]',
      'allowInlineSecrets: true',
      'workers:',
      '- name: default',
      '  url: https://worker:8083',
      `  auth: {type: basic, usernameFile: ${file('user', 'u\n')}, passwordFile: ${password}}`,
      `  tls: {caFile: ${ca}}`,
      '  allowedNamespaces: {from: List, names: [shop, orders]}',
      '  protectedNames: ["mirror-*"]',
      '  podSelector: app=worker',
      '  requestTimeout: 5s',
      '  maxInFlight: 3',
      '  healthGrace: 90s',
      '  ownershipMarker: false',
      '  nameTemplate: "{namespace}.{name}"',
      '  allowExplicitNames: true',
      '  observeInterval: 1m',
      '  onUnreachableDelete: Abandon',
      'registries:',
      '- name: default',
      '  url: http://registry:8081',
      `  auth: {type: bearer, tokenFile: ${token}}`,
      '  allowedNamespaces: {from: All}',
      '  subjectPrefixes: {shop: [shop-]}',
      '  contexts: {"*": [.default], shop: [.shop]}',
    )
    expect([instance, watchNamespaces]).toEqual(['prod-eu', ['shop']])
    expect(runtimesConfig).toEqual({
      workers: [
        {
          name: 'default',
          endpoint: {
            url: 'https://worker:8083',
            auth: { username: 'u', password: 'pass' },
            tls: { ca: Buffer.from('PEM') },
          },
          namespaces: ['shop', 'orders'],
          requestTimeoutMs: 5_000,
          observeIntervalMs: 60_000,
          maxInFlight: 3,
          readinessGracePeriodMs: 90_000,
          deletionTimeoutMs: 3_600_000,
          terminatingDeletionTimeoutMs: 600_000,
          nameTemplate: '{namespace}.{name}',
          allowsExplicitNames: true,
          protectedNames: ['mirror-*'],
          secretPlaceholder: '${secret:{namespace}/{name}:{key}}',
          writesOwnerMarker: false,
          allowsInlineSecrets: true,
          podSelector: 'app=worker',
        },
      ],
      registries: [
        {
          name: 'default',
          endpoint: { url: 'http://registry:8081', auth: { token: 'secret-token' } },
          namespaces: 'All',
          requestTimeoutMs: 10_000,
          observeIntervalMs: 30_000,
          maxInFlight: 8,
          readinessGracePeriodMs: 60_000,
          subjectPrefixes: { shop: ['shop-'] },
          contexts: { '*': ['.default'], shop: ['.shop'] },
        },
      ],
    })
  })

  it('allows namespaces by a Kubernetes label selector', () => {
    const selector = '{matchLabels: {team: shop}, matchExpressions: [{key: stage, operator: NotIn, values: [dev]}]}'
    const { runtimesConfig } = read(
      `registries: [{name: r, url: "http://r", allowedNamespaces: {from: Selector, selector: ${selector}}}]`,
    )
    expect(runtimesConfig.registries[0]).toMatchObject({
      namespaces: {
        matchLabels: { team: 'shop' },
        matchExpressions: [{ key: 'stage', operator: 'NotIn', values: ['dev'] }],
      },
    })
    expect(needsNamespaces(runtimesConfig)).toBe(true)
  })

  it('requires no watch of namespaces without label selectors and without deletion timeouts', () => {
    const needs = (more: string) => needsNamespaces(read(`workers: [{name: w, url: "http://w"${more}}]`).runtimesConfig)
    expect(needs(', allowedNamespaces: {from: All}')).toBe(false)
    expect(needs(', onUnreachableDelete: Abandon')).toBe(true)
    // An explicit abandonAfter applies to every namespace.
    expect(needs(', onUnreachableDelete: Abandon, abandonAfter: 2h')).toBe(false)
    expect(needs(', allowedNamespaces: {from: Selector}')).toBe(false)
  })

  it('allows only the namespace of the operator by default', () => {
    const { runtimesConfig } = read('workers: [{name: w, url: "http://w"}]')
    expect(runtimesConfig.workers[0]).toMatchObject({ namespaces: 'Same' })
  })

  it.each([
    ['{name: bad}', 'url is missing: expected a string'],
    ['{name: bad, url: "ftp://w"}', 'url: '],
    ['{name: bad, url: "http://w", requestTimeout: 1m}', 'requestTimeout: is too long: at most 12s'],
    [
      '{name: bad, url: "http://w", observeIntervall: 1m}',
      'observeIntervall: unknown field; did you mean observeInterval?',
    ],
    ['{name: bad, url: "http://w", auth: {type: bearer, tokenFile: /no/such/token}}', '/no/such/token'],
    ['{name: bad, url: "http://w", allowedNamespaces: {from: Some}}', 'allowedNamespaces'],
    ['{name: bad, url: "http://w", allowedNamespaces: {from: Selector}}', 'allowedNamespaces.selector'],
    ['{name: bad, url: "http://w", allowedNamespaces: {from: Selector, selector: {}}}', 'names no label'],
    [
      '{name: bad, url: "http://w", allowedNamespaces: {from: Selector, selector: {labels: {a: b}}}}',
      'labels: unknown field',
    ],
    [
      '{name: bad, url: "http://w", allowedNamespaces: {from: Selector, selector: {matchExpressions: [{key: a, operator: Is}]}}}',
      'operator',
    ],
    ['{name: bad, url: "http://w", maxInFlight: 0}', 'maxInFlight: '],
    [
      '{name: bad, url: "http://w", healthGrace: soon}',
      "healthGrace: 'soon' must be a duration such as 30s, 10m or 1h30m",
    ],
    [
      '{name: bad, url: "http://w", nameTemplate: "{namespace}"}',
      "nameTemplate: '{namespace}' must contain {name} once",
    ],
    ['{name: bad, url: "http://w", nameTemplate: "{name}{name}"}', 'must contain {name} once'],
    ['{name: bad, url: "http://w", nameTemplate: "{namespace}{name}{namespace}"}', '{namespace} at most once'],
    ['{name: bad, url: "http://w", nameTemplate: "{cluster}.{name}"}', 'other braces. Example: {namespace}.{name}'],
    ['{name: bad, url: "http://w", nameTemplate: "a/{name}"}', 'slashes'],
    ['{name: bad, url: "http://w", ownershipMarker: "no"}', 'ownershipMarker: '],
  ])('reports an invalid entry without affecting the others: %s', (entry, error) => {
    const { runtimesConfig } = read('workers:', `- ${entry}`, '- {name: good, url: "http://w"}')
    expect(runtimesConfig.workers).toMatchObject([
      { name: 'bad', error: expect.stringContaining(error) },
      { name: 'good', endpoint: { url: 'http://w' } },
    ])
  })

  it.each([
    [
      '{shop: [shop]}',
      "contexts.shop[0]: 'shop' must begin with a dot and contain no colon or whitespace. Examples: .shop, .default",
    ],
    ['{shop: []}', 'contexts.shop: '],
    ['{"s p": [.x]}', 'contexts'],
  ])('rejects invalid contexts: %s', (contexts, error) => {
    const { runtimesConfig } = read('registries:', `- {name: bad, url: "http://r", contexts: ${contexts}}`)
    expect(runtimesConfig.registries).toMatchObject([{ name: 'bad', error: expect.stringContaining(error) }])
  })

  it.each([
    ['invalid YAML', () => file('x.yaml', 'workers: ['), /x\.yaml: /],
    ['of another kind', () => file('x.yaml', 'apiVersion: config.weir.dev/v1alpha1\nkind: Other'), /x\.yaml: kind/],
    ['a missing file', () => join(directory, 'none.yaml'), /none\.yaml: ENOENT/],
  ])('is rejected as a whole when it is %s', (_, made, message) => {
    expect(() => readConfiguration(made())).toThrow(
      expect.objectContaining({ code: 'invalid_config', message: expect.stringMatching(message) }),
    )
  })

  it('is rejected when two entries have the same name', () => {
    const lines = ['registries:', '- {name: one, url: "http://a"}', '- {name: one, url: "http://b"}']
    expect(() => read(...lines)).toThrow('two entries have the name one: names must be unique')
  })
})
