{{/* "true" if a program's pods connect to Kafka, else empty. Takes (root, program). */}}
{{- define "weir.usesKafka" -}}
{{- $root := index . 0 -}}
{{- if and (not $root.Values.kafka.embedded.enabled) (or (eq $root.Values.runtimes "Embedded") (ne (index . 1) "operator")) -}}true{{- end -}}
{{- end -}}

{{/* Options that name Strimzi's resources, as a YAML list; empty if brokers are named. Takes (root, program). */}}
{{- define "weir.kafkaReference" -}}
{{- $root := index . 0 -}}
{{- with $root.Values.kafka -}}
{{- if and .kafkaRef.name (include "weir.usesKafka" $) -}}
{{- $namespace := default $root.Release.Namespace .kafkaRef.namespace -}}
- --kafka-ref={{ $namespace }}/{{ .kafkaRef.name }}
{{- with .userRef.name }}
- --kafka-user-ref={{ default $namespace $root.Values.kafka.userRef.namespace }}/{{ . }}
{{- end }}
{{- with .kafkaRef.listener }}
- --kafka-listener={{ . }}
{{- end }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Settings of the Kafka clients without secrets, as a YAML map. */}}
{{- define "weir.kafkaSettings" -}}
{{- $settings := dict -}}
{{- with .Values.kafka -}}
{{- if or .tls.enabled .sasl.mechanism -}}
{{- $_ := set $settings "security.protocol" (print (ternary "SASL_" "" (ne .sasl.mechanism "")) (ternary "SSL" "PLAINTEXT" .tls.enabled)) -}}
{{- end -}}
{{- if .sasl.mechanism -}}{{- $_ := set $settings "sasl.mechanism" .sasl.mechanism -}}{{- end -}}
{{- if and .tls.enabled .tls.caSecretName -}}{{- $_ := set $settings "ssl.truststore.location" (print "/etc/weir/kafka/" .tls.caKey) -}}{{- end -}}
{{- merge (deepCopy .properties) $settings | toYaml -}}
{{- end -}}
{{- end -}}

{{/* Secret settings of the Kafka clients, as environment variables. Takes (root, prefix of their names). */}}
{{- define "weir.kafkaSecrets" -}}
{{- $prefix := index . 1 -}}
{{- with (index . 0).Values.kafka -}}
{{- $secrets := list -}}
{{- if .sasl.mechanism -}}
{{- $secrets = concat $secrets (list (list "SASL_USERNAME" .sasl.secretName .sasl.usernameKey) (list "SASL_PASSWORD" .sasl.secretName .sasl.passwordKey)) -}}
{{- end -}}
{{- if and .tls.enabled .tls.secretName -}}
{{- $secrets = concat $secrets (list (list "SSL_KEYSTORE_CERTIFICATE_CHAIN" .tls.secretName .tls.certificateKey) (list "SSL_KEYSTORE_KEY" .tls.secretName .tls.privateKeyKey)) -}}
{{- end -}}
{{- range $secrets }}
- name: {{ $prefix }}{{ index . 0 }}
  valueFrom:
    secretKeyRef: { name: {{ index . 1 | quote }}, key: {{ index . 2 | quote }} }
{{- end }}
{{- end -}}
{{- end -}}
