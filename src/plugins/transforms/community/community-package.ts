/** Package of kafka-connect-transform-common by Jeremy Custenborder. */
export const COMMUNITY_PACKAGE = 'com.github.jcustenborder.kafka.connect.transform.common'
