import { expect, it } from 'vitest'
import { API_GROUP, STORED_VERSION } from '../../../src/common/resource-api.ts'
import { parseAdmissionReview, toAdmissionReview } from '../../../src/operator/admission/admission-review.ts'

const object = { metadata: { name: 'orders', namespace: 'shop' }, spec: {} }
const request = {
  uid: 'u',
  kind: { group: API_GROUP, version: STORED_VERSION, kind: 'Subject' },
  operation: 'UPDATE',
  object,
}
const review = (more: object = {}) => ({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: { ...request, ...more },
})

it('parses the proposed object', () => {
  expect(parseAdmissionReview(review())).toEqual({
    uid: 'u',
    proposed: { kind: 'Subject', object, by: { username: '' } },
  })
})

it('parses the user and the previous object', () => {
  const userInfo = { username: 'jo', groups: ['shop'], extra: { scopes: ['a'] } }
  const oldObject = { metadata: { name: 'orders', namespace: 'shop' }, spec: { suspend: true } }
  expect(parseAdmissionReview(review({ userInfo, oldObject }))?.proposed).toEqual({
    kind: 'Subject',
    object,
    before: oldObject,
    by: userInfo,
  })
})

it.each([
  ['connections', { operation: 'CONNECT', object: null }],
  ['other kinds', { kind: { kind: 'Pod' } }],
])('finds nothing to decide for %s', (_, more) => {
  expect(parseAdmissionReview(review(more))).toEqual({ uid: 'u' })
})

it('takes the object to delete from oldObject', () => {
  const oldObject = { metadata: { name: 'orders', namespace: 'shop' }, spec: { deletionPolicy: 'HardDelete' } }
  const userInfo = { username: 'jo' }
  expect(parseAdmissionReview(review({ operation: 'DELETE', object: null, oldObject, userInfo }))).toEqual({
    uid: 'u',
    deletion: { kind: 'Subject', object: oldObject, by: userInfo },
  })
  // A deletion without its object must not be allowed as one that needs no decision.
  expect(parseAdmissionReview(review({ operation: 'DELETE', object: null, oldObject: null }))).toBeUndefined()
})

it.each([undefined, {}, { ...review(), apiVersion: 'admission.k8s.io/v1beta1' }, review({ uid: undefined })])(
  'rejects the body %j',
  (body) => expect(parseAdmissionReview(body)).toBeUndefined(),
)

it('repeats the uid, and shortens warnings to what the API server accepts', () => {
  expect(toAdmissionReview('u', { allowed: true, warnings: [`two\nlines ${'x'.repeat(300)}`] })).toEqual({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: { uid: 'u', allowed: true, warnings: [`two lines ${'x'.repeat(246)}`] },
  })
  expect(toAdmissionReview('u', { allowed: false, reason: 'Incompatible', message: 'no\nwhy' })).toMatchObject({
    response: { uid: 'u', allowed: false, status: { code: 422, reason: 'Incompatible', message: 'no\nwhy' } },
  })
  const causes = [{ field: 'spec.config[topic]', message: 'is missing' }]
  expect(toAdmissionReview('u', { allowed: false, reason: 'ConfigInvalid', message: 'no', causes })).toMatchObject({
    response: {
      status: {
        details: { causes: [{ reason: 'FieldValueInvalid', field: 'spec.config[topic]', message: 'is missing' }] },
      },
    },
  })
  expect(toAdmissionReview('u', { allowed: false, reason: 'Forbidden', message: 'no' })).toMatchObject({
    response: { allowed: false, status: { code: 403 } },
  })
})
